"""What the CDK command line runs: `cdk.json` names this file. Everything is in `infra`."""

from infra import main

if __name__ == "__main__":
    main()
