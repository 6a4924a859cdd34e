// The report as JUnit XML.

import { junitText as junitOf } from "../../../../src/test-report/junit.ts";
import { sectionUrl } from "../sections.ts";
import type { Report } from "./report.ts";

/** The whole document, without the last line break. */
export function junitText({ outcomes, type, kind }: Report): string {
  const cases = outcomes.map(({ check, verdict, why, ms }) => {
    return { name: `${check.id} ${check.title}`, verdict, why, reference: sectionUrl(check.section), ms };
  });
  return junitOf({ name: `CNI conformance of ${type}`, group: `cni.${kind}.${type}`, cases });
}
