// The collections that the PodNetworks' part watches, and the index of users, which follows them.

import type { ParametersRef, PodNetwork, PodNetworkAttachment } from "../rules/objects.ts";
import { definitionOf, isDefinitionRef } from "../rules/provider.ts";
import { CollectionGroup } from "../../../host/controller/collection-group.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import { WatchedCollection } from "../../../host/controller/watched-collection.ts";
import { networksLabel } from "../../../src/npwg/pod.ts";
import { storedClaim } from "./stored-claim.ts";
import { type KeptDefinition, type StoredPod, storedAttachment, storedDefinition, storedNetwork, storedPod } from "./stored.ts";
import { attachmentKey, claimKey, isAttachmentKey, isClaimKey, isPodKey, networkKey, partsOf, podKey } from "./keys.ts";
import { Users } from "../../../host/controller/users.ts";

const group = "/apis/plexus.dev/v1alpha1";
/** Paths of the collections. */
export const paths = {
  networks: `${group}/podnetworks`,
  attachments: `${group}/podnetworkattachments`,
  definitions: "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions",
  pods: "/api/v1/pods",
  claims: "/apis/resource.k8s.io/v1/resourceclaims",
} as const;

/** Pods that name networks. Finished ones do not keep a network (KE-14). */
export const podQuery = {
  labelSelector: networksLabel,
  fieldSelector: "status.phase!=Succeeded,status.phase!=Failed",
} as const;

/**
 * The watched objects. While the CustomResourceDefinitions are removed one after the other, the kinds that are gone count as empty: the finalizers of
 * the others can go. `onDue` receives the key of each object whose work is due.
 */
export class NetworkCollections {
  readonly watched: CollectionGroup;
  readonly networks: WatchedCollection<PodNetwork>;
  readonly attachments: WatchedCollection<PodNetworkAttachment>;
  readonly definitions: WatchedCollection<KeptDefinition>;
  readonly pods: WatchedCollection<StoredPod>;
  /** Undefined: no claim names PodNetworks in this cluster. */
  readonly claims: WatchedCollection<readonly string[]> | undefined;
  /** Users of networks and attachments: pods, claims, and attachments of networks. */
  readonly users = new Users();
  /** Users of definitions: networks and attachments. */
  readonly #definitionUsers = new Users();
  readonly #onDue: (key: string) => void;

  constructor(context: PartContext, onDue: (key: string) => void, withClaims: boolean) {
    this.#onDue = onDue;
    this.networks = new WatchedCollection(context, {
      what: "podnetworks",
      path: paths.networks,
      absentIsEmpty: true,
      read: storedNetwork,
      onChange: (_, name) => this.#networkChanged(name),
    });
    this.attachments = new WatchedCollection(context, {
      what: "podnetworkattachments",
      path: paths.attachments,
      absentIsEmpty: true,
      read: storedAttachment,
      onChange: (namespace, name) => this.#attachmentChanged(namespace, name),
    });
    this.definitions = new WatchedCollection(context, {
      what: "network-attachment-definitions",
      path: paths.definitions,
      absentIsEmpty: true,
      read: storedDefinition,
      onChange: (namespace, name) => this.#definitionChanged(definitionKey(namespace, name)),
    });
    this.pods = new WatchedCollection(context, {
      what: "pods with networks",
      path: paths.pods,
      query: podQuery,
      metadataOnly: true,
      read: storedPod,
      onChange: (namespace, name) => this.#podChanged(namespace, name),
    });
    this.claims = withClaims
      ? new WatchedCollection(context, {
          what: "claims of networks",
          path: paths.claims,
          absentIsEmpty: true,
          read: storedClaim,
          onChange: (namespace, name) => this.#claimChanged(namespace, name),
        })
      : undefined;
    this.watched = new CollectionGroup({
      complete: [this.networks, this.attachments, this.pods, ...(this.claims === undefined ? [] : [this.claims])],
      listed: [this.definitions],
    });
  }

  /** A network's attachments are judged by its definitions, too, also if its own status stays the same. */
  #definitionChanged(key: string): void {
    for (const user of this.#definitionUsers.of(key)) this.#due([user, ...this.users.of(user).filter(isAttachmentKey)]);
  }

  #networkChanged(name: string): void {
    const key = networkKey(name);
    this.#definitionUsers.set(key, definitionKeys(this.networks.get("", name)?.parametersRefs ?? [], ""));
    const users = this.users.of(key);
    this.#due([key, ...users]);
    for (const user of users) this.#due(this.users.of(user));
  }

  #attachmentChanged(namespace: string, name: string): void {
    const key = attachmentKey(namespace, name);
    const attachment = this.attachments.get(namespace, name);
    this.#definitionUsers.set(key, definitionKeys(attachment?.parametersRefs ?? [], namespace));
    const affected = this.users.set(key, attachment === undefined ? [] : [networkKey(attachment.podNetworkName)]);
    this.#due([key, ...affected, ...this.users.of(key)]);
  }

  #podChanged(namespace: string, name: string): void {
    const key = podKey(namespace, name);
    const entries = this.pods.get(namespace, name)?.entries ?? [];
    const used = entries.map((entry) =>
      entry.kind === "PodNetwork" ? networkKey(entry.name) : attachmentKey(namespace, entry.name),
    );
    this.#due([key, ...this.users.set(key, used)]);
  }

  #claimChanged(namespace: string, name: string): void {
    const used = this.claims?.get(namespace, name) ?? [];
    this.#due(this.users.set(claimKey(namespace, name), used.map(networkKey)));
  }

  /** Only a gated pod has work: of 60,000 pods almost none. */
  #due(keys: readonly string[]): void {
    for (const key of keys) if (!isClaimKey(key) && (!isPodKey(key) || this.#isGated(key))) this.#onDue(key);
  }

  #isGated(key: string): boolean {
    const { namespace, name } = partsOf(key);
    return this.pods.get(namespace, name)?.isGated === true;
  }
}

function definitionKey(namespace: string, name: string): string {
  return `definition ${namespace}/${name}`;
}

function definitionKeys(refs: readonly ParametersRef[], ownNamespace: string): readonly string[] {
  return refs.filter(isDefinitionRef).map((ref) => {
    const { namespace, name } = definitionOf(ref, ownNamespace);
    return definitionKey(namespace, name);
  });
}
