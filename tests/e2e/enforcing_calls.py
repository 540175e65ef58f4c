"""Calls that a principal is tried with, of AWS, of tools, of the people's API; what came of them.

A call of AWS is (service, operation, arguments) as boto3 takes them; `calls` hold them by what
they are for.
"""

from __future__ import annotations

import json
import time

from botocore.exceptions import ClientError

from agents import events
from agents.session import issue, read_keys
from agents.targets import LambdaTarget
from contracts import registry
from contracts.spec import Scope
from functions._runtime.approvals import rows

DENIED = {"AccessDenied", "AccessDeniedException"}
ID = f"apr_{'0' * 32}"
REQUEST, DECISION = rows.request_key(ID), rows.decision_key(ID)
VOTE = rows.vote_key(ID, "mallory")
EVENT = {"pk": {"S": f"AUD#{ID}"}, "sk": {"S": "EVENT#000001"}}
WORKSPACE = {"pk": {"S": "WS#default#/w"}, "sk": {"S": "HEAD"}}
ARGUMENTS, HEAD = f"arguments/default/{'0' * 64}.json", rows.head_key(ID, 1)
PUTS = ("PutItem", "Put of a transaction")


def refused(call, calls):
    """What was not refused, and what came of it: {} if everything was."""
    return {what: told for what, told in outcomes(call, calls) if told not in DENIED}


def failed(call, calls):
    """What did not succeed, and what came of it: {} if everything did."""
    return {what: told for what, told in outcomes(call, calls) if told != "done"}


def outcomes(call, calls):
    for what, (service, operation, arguments) in calls.items():
        yield what, call(service, operation, **arguments)


def writes(names, key, beside, left_out=()):
    """Every way to write a row, alone or in one transaction with a row that may be written."""
    table, item = names["ApprovalsTable"], {**key, "state": {"S": "APPROVED"}}
    update = {
        "TableName": table,
        "Key": key,
        "UpdateExpression": "SET consumedBy = :who",
        "ExpressionAttributeValues": {":who": {"S": "mallory"}},
    }
    other = {"Put": {"TableName": table, "Item": beside}}
    deletion, put = {"TableName": table, "Key": key}, {"TableName": table, "Item": item}
    batch = {"RequestItems": {table: [{"PutRequest": {"Item": item}}]}}
    insert = {
        "Statement": f"INSERT INTO \"{table}\" VALUE {{'pk': ?, 'sk': ?}}",
        "Parameters": [key["pk"], key["sk"]],
    }
    calls = {
        "PutItem": ("put_item", put),
        "UpdateItem": ("update_item", update),
        "DeleteItem": ("delete_item", deletion),
        "BatchWriteItem": ("batch_write_item", batch),
        "PartiQL": ("execute_statement", insert),
        "Put of a transaction": ("transact_write_items", {"TransactItems": [other, {"Put": put}]}),
        "Update of a transaction": (
            "transact_write_items",
            {"TransactItems": [other, {"Update": update}]},
        ),
        "Delete of a transaction": (
            "transact_write_items",
            {"TransactItems": [other, {"Delete": deletion}]},
        ),
    }
    return {
        f"{what} of {key['pk']['S'][:3]} {key['sk']['S'][:4]}": ("dynamodb", *call)
        for what, call in calls.items()
        if what not in left_out
    }


def s3(operation, bucket, key):
    body = {"Body": "{}"} if operation == "put_object" else {}
    return ("s3", operation, {"Bucket": bucket, "Key": key, **body})


def row(operation, table, key):
    """A call on one row, or on one partition."""
    if operation == "query":
        asked = {
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": key["pk"]},
        }
        return ("dynamodb", "query", {"TableName": table, **asked})
    return (
        "dynamodb",
        operation,
        {"TableName": table, ("Item" if operation == "put_item" else "Key"): key},
    )


def invoked(function, event=None):
    return ("lambda", "invoke", {"FunctionName": function, "Payload": json.dumps(event or {})})


def as_alice(role):
    """What API Gateway tells the function of a vote by a session of alice's."""
    arn = role.replace(":iam:", ":sts:").replace(":role/", ":assumed-role/") + "/alice"
    identity = {"authorizer": {"iam": {"userArn": arn}}}
    return {"routeKey": "GET /approvals", "requestContext": identity}


def by(cloud, who):
    """Calls by somebody's own credentials, told as a probe tells them."""

    def call(service, operation, **arguments):
        try:
            getattr(cloud.client(service, who), operation)(**arguments)
        except ClientError as error:
            return error.response["Error"]["Code"]
        return "done"

    return call


def assumed(cloud, who, role, name, **more):
    try:
        cloud.session(who, role, name, **more)
    except ClientError as error:
        return error.response["Error"]["Code"]
    return "done"


def tools_for(subject, cloud, names, tools, who):
    """Calls of tools on a person's behalf, with a token that `who` signs, by the stage's key."""
    keys = read_keys(cloud.client("secretsmanager", who), names["CallerKeys"])
    target = LambdaTarget(tools, client=cloud.client("lambda", who))

    def call(tool, root, **arguments):
        spec = registry.find(tool)
        token = issue(
            tenant="default",
            subject=subject,
            scopes=[str(scope) for scope in Scope],
            stage="dev",
            keys=keys,
            now_s=int(time.time()),
        )
        version = {"schemaVersion": spec.major} if spec.mutates else {}
        given = {**version, "repoRoot": root, **arguments}
        return events.unwrap(target.send(spec, events.build(spec, given, "direct", token=token)))

    return call


def voted(cloud, api, approvers, approval_id, people):
    """(status, body) of each of the people's yes to what they have looked at."""
    place = f"/approvals/{approval_id}"
    told = []
    for name in people.split():
        looked = [cloud.http(approvers[name], "GET", api, place + part) for part in ("", "/audit")]
        text = cloud.http(approvers[name], "GET", api, f"{place}/arguments")
        assert [status for status, _ in (*looked, text)] == [200] * 3
        shown = looked[0][1]["approval"]
        vote = {"decision": "approve", "fingerprint": shown["fingerprint"], "reason": "seen"}
        told.append(cloud.http(approvers[name], "POST", api, f"{place}/votes", vote))
    return told
