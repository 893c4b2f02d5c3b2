import { findProgram } from '@berth/host-requirements';
import { chromium, type Browser } from 'playwright-core';

/** Any of these will do; the first is the smallest. */
const PROGRAMS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** On a machine whose processors are all busy. */
const START_WITHIN_MS = 60_000;

/**
 * Starts a headless Chromium. `places` are the hosts that it finds elsewhere, `localhost:8080` for example at
 * `127.0.0.1:40123`, so that a page is opened as it is. Throws with the command that installs Chromium if there is none.
 */
export const startBrowser = async (places: Readonly<Record<string, string>> = {}): Promise<Browser> => {
  const [executablePath] = PROGRAMS.flatMap((name) => findProgram(name, process.env['PATH'] ?? '') ?? []);
  if (executablePath === undefined)
    throw new Error('This test needs Chromium. Run: apt-get install -y chromium-headless-shell');
  const rules = Object.entries(places).map(([written, actual]) => `MAP ${written} ${actual}`);
  return await chromium.launch({
    executablePath,
    timeout: START_WITHIN_MS,
    // Root has no sandbox, and shared memory is small in many containers.
    args: ['--no-sandbox', '--disable-dev-shm-usage', `--host-resolver-rules=${rules.join(', ')}`],
  });
};
