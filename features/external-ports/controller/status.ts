// The status of an ExternalPort.

import { type ExternalPort, externalPortApiVersion } from "../rules/external-port.ts";
import type { ProvidedPort } from "../rules/provided-port.ts";
import { type Condition, judgedCondition, type Judgement } from "../../../src/kube/conditions.ts";
import type { ObjectAnswer } from "../../../host/cluster/kube/api-objects.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import type { ProviderFailure } from "./provider.ts";

/** A condition as its writer knows it. */
export interface TypedJudgement extends Judgement {
  readonly type: string;
}

const maxMessage = 1_024;

/** Reasons of the condition Ready, by the reason of a provider's failure. */
export const readyReasons: Readonly<Record<ProviderFailure["reason"], string>> = {
  unavailable: "ProviderUnavailable",
  quota: "QuotaExceeded",
  invalid: "Invalid",
  refused: "Refused",
};

/** The condition of this type. */
export function conditionOf({ conditions }: ExternalPort, type: string): Condition | undefined {
  return conditions.find((each) => each.type === type);
}

/** Whether the object already says so. */
export function says(object: ExternalPort, { type, status, reason, message }: TypedJudgement): boolean {
  const now = conditionOf(object, type);
  return now?.status === status && now.reason === reason && now.message === message.slice(0, maxMessage);
}

/** Writes a condition, and the port if there is one, guarded by the object's resourceVersion. */
export function writeStatus(
  { objects, clock }: PartContext,
  object: ExternalPort,
  judgement: TypedJudgement,
  port?: ProvidedPort,
): Promise<ObjectAnswer> {
  const { namespace, name, resourceVersion, conditions } = object;
  const { type, status: verdict, reason } = judgement;
  const message = judgement.message.slice(0, maxMessage);
  const now = `${clock.date().toISOString().slice(0, 19)}Z`;
  const condition = judgedCondition(object, type, { status: verdict, reason, message }, now);
  const others = conditions.filter((each) => each.type !== type);
  const status = { ...port, conditions: [...others, condition] };
  return objects.patch(`${portPath(namespace, name)}/status`, { metadata: { resourceVersion }, status });
}

/** The path of an ExternalPort. */
export function portPath(namespace: string, name: string): string {
  return `${portsPath(namespace)}/${name}`;
}

/** The path of a namespace's ExternalPorts. */
export function portsPath(namespace: string): string {
  return `/apis/${externalPortApiVersion}/namespaces/${namespace}/externalports`;
}
