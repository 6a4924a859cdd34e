// A kind of object with a finalizer of plexus-controller.

/** One kind. A feature names the kinds that its part of the controller holds. */
export interface FinalizerKind {
  readonly kind: string;
  /** The group and the version, such as `plexus.dev/v1alpha1`. */
  readonly apiVersion: string;
  /** The resource's name in paths. */
  readonly plural: string;
  readonly finalizer: string;
  /** What nobody releases without the finalizer, such as the port of a fabric; empty if there is nothing. Undefined: no object has any. */
  readonly outside?: (object: unknown) => string;
}
