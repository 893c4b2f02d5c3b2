import type { EnvReader } from '@berth/config';

/** The entry that stands for every origin. */
const ANY = '*';

/** Reads BERTH_ALLOWED_ORIGINS: origins as browsers send them, or `*`, separated by commas. */
export const readAllowedOrigins = (reader: EnvReader): readonly string[] => {
  const entries = (reader.optional('BERTH_ALLOWED_ORIGINS') ?? '').split(',').map((entry) => entry.trim());
  return entries
    .filter((entry) => entry !== '')
    .map((entry) => {
      if (entry === ANY || isOrigin(entry)) return entry.toLowerCase();
      reader.problem(
        'BERTH_ALLOWED_ORIGINS',
        'must be origins (https://app.example.com), separated by commas, or *',
      );
      return '';
    });
};

/** Whether a browser sends this: no path, no user, not the port of the scheme. `*` is a valid character of a host. */
const isOrigin = (text: string): boolean =>
  /^https?:[^*]+$/i.test(text) && URL.canParse(text) && new URL(text).origin === text.toLowerCase();

/** The value of `Access-Control-Allow-Origin` for pages of this origin; undefined if they may not call the API. */
export const allowedOrigin = (entries: readonly string[], origin: string | undefined): string | undefined =>
  origin === undefined ? undefined : entries.find((entry) => entry === ANY || entry === origin);
