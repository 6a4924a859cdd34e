// A kind of object with a finalizer of plexus-controller.

/** One kind. A feature names the kinds that its part of the controller holds. */
export interface FinalizerKind {
  readonly kind: string;
  /** The group and the version, such as `plexus.dev/v1alpha1`. */
  readonly apiVersion: string;
  /** The resource's name in paths. */
  readonly plural: string;
  readonly finalizer: string;
  /** The resource outside of the cluster that stays if the finalizer is removed, such as a fabric's port; empty: none. Undefined: objects of this kind have no such resource. */
  readonly outside?: (object: unknown) => string;
}
