// The URL of a provider's or an identity service's API in the settings.

import { z } from "zod";

/** A URL of HTTP without a user: requests to such a URL fail, by an error that shows the password to readers of ExternalPorts. */
export const providerUrl = z.url({ protocol: /^https?$/ }).refine((text) => {
  const { username, password } = new URL(text);
  return username === "" && password === "";
}, "a URL without a user and password");
