// A call's steps as a table, with a bar for each on a common time axis.

import type { PageCall } from "../page-data.ts";
import { Changes } from "./changes.tsx";
import { FaultNote } from "./fault-note.tsx";
import { duration } from "./texts.ts";
import { type Bar, barsOf, outsideMs, ticksOf } from "./waterfall-layout.ts";

/** The waterfall of one call. */
export function Waterfall({ call }: { readonly call: PageCall }) {
  const bars = barsOf(call);
  const ticks = ticksOf(call.ms);
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Steps, can be scrolled">
      <table class="waterfall">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Interface</th>
            <th scope="col">Runs as</th>
            <th scope="col" class="axis">
              <span class="hidden">Time axis</span>
              {ticks.map(({ ms, left }) => (
                <span key={ms} class="tick" style={{ left: `${left}%` }}>
                  {tickText(ms)}
                </span>
              ))}
            </th>
            <th scope="col" class="number">
              Time
            </th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {bars.map((bar, index) => (
            <StepRow key={`${index} ${bar.step.type}`} bar={bar} verb={call.verb} ticks={ticks} />
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={4}>
              Plexus itself, outside of steps
            </th>
            <td class="number">{duration(outsideMs(call))}</td>
            <td>{call.moreSteps > 0 ? `${call.moreSteps} further steps are not shown` : ""}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

interface StepRowProps {
  readonly bar: Bar;
  /** The call's verb. */
  readonly verb: string;
  readonly ticks: ReturnType<typeof ticksOf>;
}

function StepRow({ bar: { step, left, width, depth }, verb, ticks }: StepRowProps) {
  const { type, network, ifname, kind, ms, startMs, failure, changes } = step;
  return (
    <>
      <tr>
        <th scope="row" class={`step depth-${Math.min(depth, 3)}`}>
          {depth > 0 && <span aria-hidden="true">└ </span>}
          <bdi>{type}</bdi>
          {depth > 0 && <span class="hidden"> (called by the step above)</span>}
          {step.verb !== verb && <span class="undo"> {step.verb === "DEL" ? "undone (DEL)" : step.verb}</span>}
        </th>
        <td>
          <code>{ifname}</code> <bdi class="muted">{network}</bdi>
        </td>
        <td>{kind === "wasm" ? "component" : "native"}</td>
        <td class="track" title={`begins after ${duration(startMs)}`}>
          {ticks.map((tick) => (
            <span key={tick.ms} class="grid" style={{ left: `${tick.left}%` }} />
          ))}
          <span class={`bar ${kind} ${failure === null ? "" : "failed"}`} style={{ left: `${left}%`, width: `${width}%` }} />
        </td>
        <td class="number">{duration(ms)}</td>
        <td class={failure === null ? "outcome ok" : "outcome failed"}>{failure === null ? "✓ ok" : `✕ code ${failure.code}`}</td>
      </tr>
      {changes !== null && (
        <tr class="step-changes">
          <td colSpan={6}>
            <Changes changes={changes} type={type} />
          </td>
        </tr>
      )}
      {failure !== null && (
        <tr class="step-fault">
          <td colSpan={6}>
            <FaultNote failure={failure} />
          </td>
        </tr>
      )}
    </>
  );
}

function tickText(ms: number): string {
  return ms >= 1000 ? `${Number((ms / 1000).toFixed(2))} s` : `${Number(ms.toFixed(3))} ms`;
}
