"""The names of an instance as PlanRun found them, which the plan of a run keeps."""

from tidemark.model.frozen import Frozen


class LoggingTask(Frozen):
    """The place where the tasks of a definition log."""

    container: str
    log_group: str
    stream_prefix: str


class KnownInstance(Frozen):
    """The names of an instance, by the words of its suite."""

    names: dict[str, str]
    """The ARN of a cluster, the ARN with its revision of a task definition, and the plain name of
    anything else; a text or ids as the instance's property has them, '' if there are none."""
    logs: dict[str, LoggingTask]
    """The logs of the tasks of each definition that steps run or find."""
    clusters: tuple[str, ...] = ()
    """The ARNs of the clusters that steps run tasks in."""
