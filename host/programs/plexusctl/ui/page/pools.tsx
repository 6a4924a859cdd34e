// The fill of each address pool.

import type { PoolState } from "../../../../node/state/node-state.ts";
import type { PageData } from "../page-data.ts";
import { sizeText } from "./picture-layout.ts";
import { Nothing, Section } from "./section.tsx";

/** The pools, the fullest first. */
export function Pools({ data: { pools } }: { readonly data: PageData }) {
  const ordered = pools.toSorted((one, other) => shareOf(other) - shareOf(one));
  return (
    <Section id="pools" title="Address pools">
      {ordered.length === 0 ? (
        <Nothing>No pool has leases.</Nothing>
      ) : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Address pools, can be scrolled">
          <table>
            <thead>
              <tr>
                <th scope="col">Pool</th>
                <th scope="col" class="number">
                  Used
                </th>
                <th scope="col" class="number">
                  Size
                </th>
                <th scope="col">Fill</th>
              </tr>
            </thead>
            <tbody>
              {ordered.map((pool) => (
                <tr key={pool.directory}>
                  <th scope="row">
                    <bdi>{pool.directory}</bdi>
                  </th>
                  <td class="number">{pool.used}</td>
                  <td class="number">{pool.size === undefined ? "not known" : sizeText(pool.size)}</td>
                  <td>
                    <Fill pool={pool} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}

function Fill({ pool }: { readonly pool: PoolState }) {
  if (pool.size === undefined || pool.size <= 0) return <span class="muted">–</span>;
  const share = shareOf(pool);
  const percent = Math.round(share * 100);
  const isFull = share > 0.9;
  return (
    <span class="fill">
      <span
        class={isFull ? "gauge full" : "gauge"}
        role="meter"
        aria-label={`Fill of ${pool.directory}`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(percent, 100)}
      >
        <span style={{ width: `${Math.min(100, Math.max(share * 100, 1))}%` }} />
      </span>
      <span class={isFull ? "bad-text" : ""}>{isFull ? `✕ ${percent} %, nearly full` : `${percent} %`}</span>
    </span>
  );
}

function shareOf({ used, size }: PoolState): number {
  return size === undefined || size <= 0 ? 0 : used / size;
}
