// Asks the server for the node's state again and again, while the window is visible and the reader has not paused it.

import { useEffect, useState } from "preact/hooks";
import type { PageData } from "../page-data.ts";

/** The latest data, and why there is no newer one. */
export interface LiveData {
  readonly data: PageData;
  /** Undefined while the server answers. */
  readonly problem: string | undefined;
}

/** Interval of the questions, in ms. */
const intervalMs = 1000;
/** Longest wait for an answer, in ms: the server waits 5 s for the daemon. */
const timeoutMs = 12_000;

/** The page's data; `active`: whether to ask for new data. */
export function useLiveData(initial: PageData, active: boolean): LiveData {
  const [state, setState] = useState<LiveData>({ data: initial, problem: undefined });
  useEffect(() => {
    if (!active) return undefined;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      if (!document.hidden) {
        try {
          const data = await newData(AbortSignal.any([stop.signal, AbortSignal.timeout(timeoutMs)]));
          if (!stop.signal.aborted) setState({ data, problem: undefined });
        } catch (error) {
          const problem = error instanceof Error ? error.message : String(error);
          if (!stop.signal.aborted) setState(({ data }) => ({ data, problem }));
        }
      }
      if (!stop.signal.aborted) timer = setTimeout(() => void ask(), intervalMs);
    };
    timer = setTimeout(() => void ask(), intervalMs);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [active]);
  return state;
}

async function newData(signal: AbortSignal): Promise<PageData> {
  const response = await fetch("data.json", { signal, cache: "no-store" });
  if (!response.ok) throw new Error(`plexusctl ui answered HTTP status ${response.status}`);
  return response.json();
}
