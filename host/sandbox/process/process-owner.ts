// The owner of a sandbox process. A guest that broke out of V8 keeps the process and may act in every later call there, so a process has one
// owner until it ends.

/** The component whose guests run in a process, and the source of their calls. */
export interface ProcessOwner {
  /** Key of the admitted component. */
  readonly component: string;
  /** Names the grants that the calls have; undefined for an admission, and for a process that has only examined the component. */
  readonly source: string | undefined;
}

/**
 * Whether a process with this owner may take what `wanted` asks for. Undefined: the process has no owner yet. An admission never gets a process
 * that has run guests, because its result holds for all sources.
 */
export function mayServe(owner: ProcessOwner | undefined, wanted: ProcessOwner): boolean {
  if (owner === undefined) return true;
  if (owner.component !== wanted.component) return false;
  return owner.source === undefined || owner.source === wanted.source;
}

/** The owner of a process after it took `wanted`. */
export function ownerAfter(owner: ProcessOwner | undefined, wanted: ProcessOwner): ProcessOwner {
  return { component: wanted.component, source: owner?.source ?? wanted.source };
}
