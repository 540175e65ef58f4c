"""What outlives every deployment of code: what tools and people remember, and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_cdk import CfnOutput, Duration, RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns

from contracts.caller import CURRENT
from infra.scopes import Store

if TYPE_CHECKING:
    from constructs import Construct

    from infra.stage import Stage

EXPIRY = "expiration"
"""The attribute of an idempotency record that says when it may go, in seconds since the epoch."""

KEY_CHARACTERS = 64
"""Letters and digits of a generated key: far more than can be guessed."""

DELETED_DAYS = 30
"""How long what was deleted from a bucket can be brought back, where the stage keeps data."""

LOCKED_DAYS = 365
OPEN = "open"
"""The index of the approvals' table that lists requests."""


@dataclass(frozen=True, kw_only=True)
class Stores:
    """The stage's stores, for constructs that use them."""

    idempotency_table: dynamodb.ITable
    workspace_table: dynamodb.ITable
    workspace_bucket: s3.IBucket
    orders_table: dynamodb.ITable
    releases_bucket: s3.IBucket
    approvals_table: dynamodb.ITable
    approvals_bucket: s3.IBucket
    approvals_topic: sns.ITopic
    caller_keys: secretsmanager.ISecret

    def arn(self, store: Store) -> str:
        """The ARN of a store."""
        return {
            Store.IDEMPOTENCY_TABLE: self.idempotency_table.table_arn,
            Store.WORKSPACE_TABLE: self.workspace_table.table_arn,
            Store.WORKSPACE_BUCKET: self.workspace_bucket.bucket_arn,
            Store.ORDERS_TABLE: self.orders_table.table_arn,
            Store.RELEASES_BUCKET: self.releases_bucket.bucket_arn,
            Store.APPROVALS_TABLE: self.approvals_table.table_arn,
            Store.APPROVALS_BUCKET: self.approvals_bucket.bucket_arn,
            Store.APPROVALS_TOPIC: self.approvals_topic.topic_arn,
            Store.CALLER_KEYS: self.caller_keys.secret_arn,
        }[store]

    def environment(self) -> dict[str, str]:
        """Their names, as the functions read them."""
        return {
            "IDEMPOTENCY_TABLE": self.idempotency_table.table_name,
            "WORKSPACE_TABLE": self.workspace_table.table_name,
            "WORKSPACE_BUCKET": self.workspace_bucket.bucket_name,
            "ORDERS_TABLE": self.orders_table.table_name,
            "RELEASES_BUCKET": self.releases_bucket.bucket_name,
            "CALLER_KEYS_SECRET": self.caller_keys.secret_arn,
        }


class StateStack(Stack):
    """Tables, buckets and keys; kept, restorable and protected where the stage keeps data."""

    def __init__(self, scope: Construct, id_: str, *, stage: Stage, **kwargs: Any) -> None:
        super().__init__(scope, id_, termination_protection=stage.termination_protection, **kwargs)
        self.stores = Stores(
            idempotency_table=self._table("IdempotencyTable", stage, "id", expires=True),
            workspace_table=self._table("WorkspaceTable", stage, "pk", "sk"),
            workspace_bucket=self._bucket("WorkspaceBucket", stage),
            orders_table=self._table("OrdersTable", stage, "pk"),
            releases_bucket=self._bucket("ReleasesBucket", stage),
            approvals_table=self._approvals_table(stage),
            approvals_bucket=self._bucket("ApprovalsBucket", stage, locked=True),
            # Who is told subscribes by hand, which no deployment of code should undo.
            approvals_topic=self._topic("ApprovalsTopic", stage),
            caller_keys=self._keys("CallerKeys", stage),
        )
        _tell_event_bridge(self.stores.releases_bucket)
        names = {
            "IdempotencyTable": self.stores.idempotency_table.table_name,
            "WorkspaceTable": self.stores.workspace_table.table_name,
            "WorkspaceBucket": self.stores.workspace_bucket.bucket_name,
            "OrdersTable": self.stores.orders_table.table_name,
            "ReleasesBucket": self.stores.releases_bucket.bucket_name,
            "ApprovalsTable": self.stores.approvals_table.table_name,
            "ApprovalsBucket": self.stores.approvals_bucket.bucket_name,
            "ApprovalsTopic": self.stores.approvals_topic.topic_arn,
            "CallerKeys": self.stores.caller_keys.secret_arn,
        }
        for key, name in names.items():
            CfnOutput(self, f"{key}Name", value=name).override_logical_id(key)
            # Exported whether or not a tool uses it: an export that comes and goes with its
            # importers cannot be deployed in order.
            self.export_value(name)
        for store in Store:
            if store not in {Store.CALLER_KEYS, Store.APPROVALS_TOPIC}:  # whose name is the ARN
                self.export_value(self.stores.arn(store))

    def _table(
        self,
        id_: str,
        stage: Stage,
        partition: str,
        sort: str | None = None,
        *,
        expires: bool = False,
    ) -> dynamodb.TableV2:
        def text(name: str) -> dynamodb.Attribute:
            return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)

        return dynamodb.TableV2(
            self,
            id_,
            partition_key=text(partition),
            sort_key=text(sort) if sort else None,
            time_to_live_attribute=EXPIRY if expires else None,
            billing=dynamodb.Billing.on_demand(),
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=stage.keeps_data
            ),
            deletion_protection=stage.keeps_data,
            removal_policy=_removal(stage),
        )

    def _approvals_table(self, stage: Stage) -> dynamodb.TableV2:
        """With an index of requests by the time that they can be decided until."""
        table = self._table("ApprovalsTable", stage, "pk", "sk")
        table.add_global_secondary_index(
            index_name=OPEN,
            partition_key=dynamodb.Attribute(name="kind", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="approveByMs", type=dynamodb.AttributeType.NUMBER),
        )
        return table

    def _bucket(self, id_: str, stage: Stage, *, locked: bool = False) -> s3.Bucket:
        """`locked`: where data is kept, nobody can delete an object for a year."""
        return s3.Bucket(
            self,
            id_,
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            versioned=stage.keeps_data,
            object_lock_default_retention=(
                s3.ObjectLockRetention.governance(Duration.days(LOCKED_DAYS))
                if locked and stage.keeps_data
                else None
            ),
            lifecycle_rules=[
                s3.LifecycleRule(
                    abort_incomplete_multipart_upload_after=Duration.days(7),
                    # Objects are never overwritten: an old version is one that was deleted.
                    noncurrent_version_expiration=(
                        Duration.days(DELETED_DAYS) if stage.keeps_data else None
                    ),
                )
            ],
            removal_policy=_removal(stage),
        )

    def _topic(self, id_: str, stage: Stage) -> sns.Topic:
        topic = sns.Topic(self, id_, enforce_ssl=True)
        topic.apply_removal_policy(_removal(stage))
        return topic

    def _keys(self, id_: str, stage: Stage) -> secretsmanager.Secret:
        """The secret of caller tokens, with a first key that nobody has seen."""
        return secretsmanager.Secret(
            self,
            id_,
            description="Keys of Toolgate's caller tokens: whoever reads them may be any caller",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                secret_string_template="{}",  # noqa: S106  (the key is added by AWS)
                generate_string_key=CURRENT,
                password_length=KEY_CHARACTERS,
                exclude_punctuation=True,
            ),
            removal_policy=_removal(stage),
        )


def _tell_event_bridge(bucket: s3.IBucket) -> None:
    """Have the bucket's events reach EventBridge, where a rule may start a pipeline.

    As a property of the bucket itself: the construct's own flag would bring a custom resource.
    """
    made = bucket.node.default_child
    if not isinstance(made, s3.CfnBucket):
        raise TypeError("the bucket is not one of this stack's own")
    made.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
        event_bridge_configuration=s3.CfnBucket.EventBridgeConfigurationProperty(
            event_bridge_enabled=True
        )
    )


def _removal(stage: Stage) -> RemovalPolicy:
    return RemovalPolicy.RETAIN if stage.keeps_data else RemovalPolicy.DESTROY
