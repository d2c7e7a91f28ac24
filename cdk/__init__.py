"""The CDK app: one module per capability, and the definitions of the state machines."""
