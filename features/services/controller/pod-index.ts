// Pods by the networks that they are on, in each namespace: a Service selects pods of its own namespace.

import type { NamedPod } from "../rules/endpoint.ts";
import { type MemberPod, networksOf } from "../rules/member-pod.ts";

/** Pods by namespace and name. */
export class PodIndex {
  readonly #namespaces = new Map<string, Map<string, MemberPod>>();
  /** The names of a namespace's pods on a network. */
  readonly #ofNetwork = new Map<string, Set<string>>();

  /** Puts a pod in place of its previous version, which is the answer; undefined: the pod is gone, or on no further network. */
  put(namespace: string, name: string, pod: MemberPod | undefined): MemberPod | undefined {
    const pods = this.#namespaces.get(namespace) ?? new Map<string, MemberPod>();
    const before = pods.get(name);
    if (pod === undefined) pods.delete(name);
    else pods.set(name, pod);
    if (pods.size === 0) this.#namespaces.delete(namespace);
    else this.#namespaces.set(namespace, pods);
    for (const network of before === undefined ? [] : networksOf(before)) {
      const names = this.#ofNetwork.get(keyOf(namespace, network));
      names?.delete(name);
      if (names?.size === 0) this.#ofNetwork.delete(keyOf(namespace, network));
    }
    for (const network of pod === undefined ? [] : networksOf(pod)) {
      const names = this.#ofNetwork.get(keyOf(namespace, network)) ?? new Set();
      this.#ofNetwork.set(keyOf(namespace, network), names.add(name));
    }
    return before;
  }

  /** The pods of a namespace on a network. */
  *podsOf(namespace: string, network: string): Iterable<NamedPod> {
    const pods = this.#namespaces.get(namespace);
    for (const name of this.#ofNetwork.get(keyOf(namespace, network)) ?? []) {
      const pod = pods?.get(name);
      if (pod !== undefined) yield { name, pod };
    }
  }

  /** The pods of a node. */
  *podsOn(node: string): Iterable<{ readonly namespace: string; readonly pod: MemberPod }> {
    for (const [namespace, pods] of this.#namespaces)
      for (const pod of pods.values()) if (pod.node === node) yield { namespace, pod };
  }
}

function keyOf(namespace: string, network: string): string {
  return `${namespace} ${network}`;
}
