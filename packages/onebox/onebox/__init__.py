"""The one-machine cloud: a synthesised CDK app, run without an AWS account."""
