// The browser's entry: reads the data from the page, renders it, and asks the server for new data if it is live.

import { render } from "preact";
import type { PageData } from "../page-data.ts";
import { App } from "./app.tsx";

const element = document.getElementById("data");
const root = document.getElementById("page");
if (element !== null && root !== null) {
  const data: PageData = JSON.parse(element.textContent ?? "");
  render(<App initial={data} live={element.dataset["live"] === "yes"} />, root);
}
