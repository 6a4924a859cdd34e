// The key of Plexus' configuration that leaves steps of the default network's list out, because the runtime's list has them after Plexus.

/** The key's name. */
export const omittedStepsKey = "omitDefaultSteps";
