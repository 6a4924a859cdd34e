// The rules of admission by which a component was admitted.

/** Defined by the build (scripts/admission-rules.ts). */
declare const PLEXUS_ADMISSION_RULES: string | undefined;

/** The digest of the rules' code; in a program that was not built, one name for all rules. */
export const admissionRules: string = typeof PLEXUS_ADMISSION_RULES === "string" ? PLEXUS_ADMISSION_RULES : "source";
