// Services by a label that they select, so that a change of a pod looks at few of them.

import { addressesOn, isSelected, type MemberPod } from "../rules/member-pod.ts";
import type { NetworkService, UnreadableService } from "../rules/service.ts";

/** Services by key. */
export class ServiceIndex {
  readonly #services = new Map<string, NetworkService | UnreadableService>();
  /** The Services of a namespace whose selector begins with this label, by `NAMESPACE LABEL=VALUE`. */
  readonly #byLabel = new Map<string, Set<string>>();

  /** Puts a Service in place of its previous version; undefined: the Service is gone, or on no further network. Answers whether there was a previous one. */
  put(key: string, namespace: string, service: NetworkService | UnreadableService | undefined): boolean {
    const before = this.#services.get(key);
    const label = labelOf(namespace, before);
    if (label !== undefined) {
      const keys = this.#byLabel.get(label);
      keys?.delete(key);
      if (keys?.size === 0) this.#byLabel.delete(label);
    }
    const after = labelOf(namespace, service);
    if (after !== undefined) this.#byLabel.set(after, (this.#byLabel.get(after) ?? new Set()).add(key));
    if (service === undefined) this.#services.delete(key);
    else this.#services.set(key, service);
    return before !== undefined;
  }

  /** The Services of the namespace that select the pod. */
  *servicesOf(namespace: string, pod: MemberPod): Iterable<string> {
    for (const label of pod.labels.split("\n")) {
      if (label === "") continue;
      for (const key of this.#byLabel.get(`${namespace} ${label}`) ?? []) {
        const service = this.#services.get(key);
        if (service === undefined || "problem" in service || !isSelected(pod.labels, service.selector)) continue;
        if (addressesOn(pod, service.network) !== undefined) yield key;
      }
    }
  }
}

function labelOf(namespace: string, service: NetworkService | UnreadableService | undefined): string | undefined {
  if (service === undefined || "problem" in service || service.selector[0] === undefined) return undefined;
  return `${namespace} ${service.selector[0]}`;
}
