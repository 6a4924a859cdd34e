// The last failures with their remedies.

import { ageOf } from "../../age.ts";
import type { PageData } from "../page-data.ts";
import { FaultNote } from "./fault-note.tsx";
import { Nothing, Section } from "./section.tsx";
import { matches } from "./texts.ts";

/** One element for each kind of failure of each container. */
export function Failures({ data: { failures, time, daemon }, wanted }: { readonly data: PageData; readonly wanted: string }) {
  const shown = failures.filter(({ pod, container, network }) => matches(wanted, pod, container, network));
  return (
    <Section
      id="failures"
      title="Failures"
      about="Calls that failed, and what to do about each. A runtime repeats a failed call, so equal failures are counted."
    >
      {shown.length === 0 ? (
        <Nothing>
          {failures.length > 0
            ? "No failure matches the filter."
            : daemon === null
              ? "Without a daemon, the runtime's log has the failures."
              : "No call failed since the daemon's start."}
        </Nothing>
      ) : (
        <ul class="cards">
          {shown.map((failure) => (
            <li key={`${failure.verb} ${failure.container} ${failure.network} ${failure.fault}`} class="card failed">
              <h3>
                <span class="verb">{failure.verb}</span> <bdi>{failure.pod || `container ${failure.container.slice(0, 12)}`}</bdi>
              </h3>
              <p class="muted">
                {ageOf(failure.time, time, "words")} ago{failure.network === "" ? "" : ", network "}
                <bdi>{failure.network}</bdi>
                {failure.times > 1 ? `, ${failure.times} times` : ""}
              </p>
              <FaultNote failure={failure} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
