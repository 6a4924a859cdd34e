// The administrator's rules for steps, by plugin type: what a step's failure means, and which component runs beside the plugin. `steps` holds for the administrator's networks, `definitions.rules[].steps` for bound definitions.

/** `closed`: a failed step fails its chain; `open`: the chain goes on without the step; `retry`: the step is tried again first. */
export const failurePolicies = ["closed", "open", "retry"] as const;

/** See `failurePolicies`. */
export type FailurePolicy = (typeof failurePolicies)[number];

/** The rule for the steps of one plugin type, with every default filled in. */
export interface StepRule {
  readonly failure: FailurePolicy;
  /** Maximum number of further tries with `retry`. */
  readonly retries: number;
  /** CNI error codes that are tried again with `retry`. */
  readonly retryOn: readonly number[];
  /** Type of the component that runs beside a native plugin; undefined for none. */
  readonly shadow: string | undefined;
}

/** Rules by plugin type. */
export type StepRules = Readonly<Record<string, StepRule>>;

/** CNI error code 11 (section 5): the plugin may succeed later. */
export const tryAgainLater = 11;

/** The rule of a type that the configuration does not mention. */
export const defaultStepRule: StepRule = { failure: "closed", retries: 2, retryOn: [tryAgainLater], shadow: undefined };

/** Maximum of `retries`. */
export const maxRetries = 10;

/** Maximum of an error code: the WIT contract has 32 bits for it. */
export const maxErrorCode = 4_294_967_295;

/** The rule for a plugin type; the default rule if there is none. */
export function stepRule(rules: StepRules | undefined, type: string): StepRule {
  return (rules !== undefined && Object.hasOwn(rules, type) ? rules[type] : undefined) ?? defaultStepRule;
}
