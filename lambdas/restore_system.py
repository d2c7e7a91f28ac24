"""RestoreSystem: leave the system as the trial found it, and delete the data of the trial."""

from lambdas import answers, services
from tidemark.run.restore_system import RestoreSystemEvent, restore_system


@answers(RestoreSystemEvent)
def handler(event: RestoreSystemEvent) -> object:
    """Enable the rules that the trial paused, delete the data of its tasks, and return nothing."""
    restore_system(services.bucket(), services.rules, event)
    return {}
