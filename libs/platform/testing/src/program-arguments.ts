import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);

/**
 * The arguments with which Node runs the program of an app, such as `runtime`: its bundle if this process was started
 * with the condition for bundles, which `npm test` keeps up to date; else the output of `tsc -b`.
 */
export const programArguments = (app: string): readonly string[] => [
  ...process.execArgv.filter((argument) => argument.startsWith('--conditions=')),
  resolve(`@berth/${app}/main`),
];
