// ExternalPorts of the Kubernetes API, for one call of a runtime.

import { type ExternalPort, readExternalPort } from "./rules/external-port.ts";
import type { ProvidedPort } from "./rules/provided-port.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { quote } from "../../src/json/quote.ts";
import { labelProblem, subdomainProblem } from "../../src/npwg/object-names.ts";
import { namedObject } from "../../host/cluster/api/named-object.ts";
import type { ClusterApi } from "../../host/cluster/object-source.ts";

/** The first pause between two looks, in ms. It doubles up to `maxPauseMs`: a fabric needs some 0.1 to 1 s for a port. */
const firstPauseMs = 50;
const maxPauseMs = 500;
/** Reasons of plexus-controller that a wait does not change. */
const final: readonly string[] = ["Invalid", "Refused"];

/** The use of an ExternalPort that the node is about to plug. */
export interface PortUse {
  readonly podUid: string;
  /** The selected definition as `NAMESPACE/NAME`. */
  readonly definition: string;
  /** The provider that the definition names. */
  readonly provider: string;
}

/**
 * Waits until the port of a pod is ready, within the call's time for the API. A port that was made for another use is refused. Faults
 * EXTERNAL_PORT_NOT_READY, EXTERNAL_PORT_REFUSED; those of the API.
 */
export async function readyPort(api: ClusterApi, namespace: string, name: string, use: PortUse): Promise<Result<ProvidedPort>> {
  const label = `ExternalPort ${namespace}/${name}`;
  if ((labelProblem(namespace) ?? subdomainProblem(name)) !== undefined) {
    return failed(fault("EXTERNAL_PORT_NOT_READY", `${label}: no object can have this name`));
  }
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const path = `/apis/plexus.dev/v1alpha1/namespaces/${namespace}/externalports/${name}`;
    const found = await namedObject(api, path, { namespace, name }, readExternalPort, label);
    if (!found.ok) return found;
    const state = stateOf(found.value, use);
    if ("port" in state) return ok(state.port);
    if (state.isFinal) return failed(fault("EXTERNAL_PORT_REFUSED", `${label}: ${state.why}`));
    if (!(await api.pause(pauseMs))) return failed(fault("EXTERNAL_PORT_NOT_READY", `${label}: ${state.why}`));
  }
}

type State = { readonly port: ProvidedPort } | { readonly why: string; readonly isFinal: boolean };

function waiting(why: string): State {
  return { why, isFinal: false };
}

function stateOf(object: ExternalPort | undefined, use: PortUse): State {
  if (object === undefined) return waiting("plexus-controller has not created it");
  if (object.spec.podUid !== use.podUid) return { why: "it belongs to another pod", isFinal: true };
  const { definition, provider } = object.spec;
  const madeFor = `${definition.namespace}/${definition.name}`;
  if (madeFor !== use.definition || provider !== use.provider) {
    // A pod's author can change the selection, and a definition's author the provider. The port must not come into another network.
    const made = `it was made for definition ${quote(madeFor, 130)} with provider ${quote(provider, 40)}`;
    const why = `${made}, and the pod now selects ${use.definition} with provider "${use.provider}". Create the pod again`;
    return { why, isFinal: true };
  }
  if (object.isDeleted) return waiting("it is being deleted");
  const ready = object.conditions.find(({ type }) => type === "Ready");
  if (ready?.status === "True" && object.port !== undefined) return { port: object.port };
  if (ready === undefined) return waiting("its provider has not answered");
  return { why: `${ready.reason}: ${ready.message}`, isFinal: final.includes(ready.reason) };
}
