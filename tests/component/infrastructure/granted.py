"""The statements of roles in a synthesised template."""


def granted(template, role=""):
    """Yield the role and the statement of each grant to a role whose logical id has a text."""
    for policy in template.find_resources("AWS::IAM::Policy").values():
        for holder in policy["Properties"]["Roles"]:
            if role in holder["Ref"]:
                for statement in policy["Properties"]["PolicyDocument"]["Statement"]:
                    yield holder["Ref"], statement


def listed(value):
    """Return the actions or resources of a statement, which may be a single one, as a list."""
    return value if isinstance(value, list) else [value]
