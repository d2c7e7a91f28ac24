"""The private address of an ECS task on one machine.

A Fargate task has a network interface of its own, so that two tasks may listen at one port. Here
each task has an address of its own on the loopback interface: Linux gives all of 127.0.0.0/8 to it.
The task's programs find it in a variable; nothing keeps them from listening elsewhere.
"""

from __future__ import annotations


def address_of(task_id: str) -> str:
    """Return the address of a task, which follows from the hexadecimal id of the task.

    Two clouds on this machine agree on nothing, and yet their tasks have different addresses: one
    in 16 million pairs does not. 127.0.0.0/16 is left to other programs.
    """
    number = int(task_id, 16)
    second, third, last = number % 255 + 1, number // 255 % 256, number // 255 // 256 % 254 + 1
    return f"127.{second}.{third}.{last}"
