// The last calls; each opens as a waterfall of its steps.

import { useState } from "preact/hooks";
import type { PageCall, PageData } from "../page-data.ts";
import { FaultNote } from "./fault-note.tsx";
import { Nothing, Section } from "./section.tsx";
import { duration, matches, timeOfDay } from "./texts.ts";
import { Waterfall } from "./waterfall.tsx";
import { barsOf } from "./waterfall-layout.ts";

/** The list of calls. */
export function Calls({ data, wanted }: { readonly data: PageData; readonly wanted: string }) {
  const [failedOnly, setFailedOnly] = useState(false);
  const { calls, callsUnknown } = data;
  const shown = (calls ?? []).filter((call) => isWanted(call, wanted) && (!failedOnly || call.failure !== null));
  return (
    <Section
      id="calls"
      title="Calls"
      about="The daemon's last calls, the latest first. Open a call to see the time of each step."
    >
      {calls === null ? (
        <Nothing>The calls are not known: {callsUnknown}</Nothing>
      ) : (
        <>
          <div class="toolbar">
            <label>
              <input type="checkbox" checked={failedOnly} onChange={(event) => setFailedOnly(event.currentTarget.checked)} /> Only
              failed calls
            </label>
            <Legend />
          </div>
          {callsUnknown !== null && <p class="muted">Only the recorded calls are known: {callsUnknown}</p>}
          {shown.length === 0 ? (
            <Nothing>{calls.length === 0 ? "No call since the daemon's start." : "No call matches."}</Nothing>
          ) : (
            <ol class="calls">
              {shown.map((call) => (
                <li key={call.request}>
                  <Call call={call} />
                </li>
              ))}
            </ol>
          )}
        </>
      )}
    </Section>
  );
}

function isWanted({ pod, container, network, steps }: PageCall, wanted: string): boolean {
  return matches(wanted, pod, container, network, ...steps.map((step) => step.network));
}

function Legend() {
  return (
    <ul class="legend" aria-label="Legend">
      <li>
        <span class="swatch native" /> native plugin
      </li>
      <li>
        <span class="swatch wasm" /> WebAssembly component
      </li>
      <li>
        <span class="swatch failed" /> failed
      </li>
    </ul>
  );
}

function Call({ call }: { readonly call: PageCall }) {
  const { time, verb, pod, container, ms, running, failure, request, recorded } = call;
  const outcome = running ? "running" : failure === null ? "ok" : "failed";
  const texts = { running: "… running", ok: "✓ ok", failed: "✕ failed" } as const;
  return (
    <details class={`call ${outcome}`}>
      <summary>
        <time dateTime={time}>{timeOfDay(time)}</time>
        <span class="verb">{verb}</span>
        <span class="who">
          <bdi>{pod || `container ${container.slice(0, 12)}`}</bdi>
        </span>
        <Strip call={call} />
        <span class="took">{duration(ms)}</span>
        <span class={`outcome ${outcome}`}>{texts[outcome]}</span>
      </summary>
      <div class="call-body">
        {failure !== null && <FaultNote failure={failure} />}
        <Waterfall call={call} />
        <p class="identity">
          {request === recorded ? (
            ""
          ) : (
            <>
              Request <code>{request}</code> in the log,{" "}
            </>
          )}
          container <code>{container}</code>
          {recorded === null ? (
            ""
          ) : (
            <>
              , recorded as <code>{recorded}</code>
            </>
          )}
        </p>
      </div>
    </details>
  );
}

/** The steps on one line. The table in the opened call has the same as text. */
function Strip({ call }: { readonly call: PageCall }) {
  return (
    <span class="strip" aria-hidden="true">
      {barsOf(call)
        .filter(({ depth }) => depth === 0)
        .map(({ step, left, width }, index) => (
          <span
            key={index}
            class={`bar ${step.kind} ${step.failure === null ? "" : "failed"}`}
            style={{ left: `${left}%`, width: `${width}%` }}
          />
        ))}
    </span>
  );
}
