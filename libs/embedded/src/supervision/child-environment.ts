/** The variables a child gets: enough to run, nothing of what this process was given (URLs and keys among it). */
export function childEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const kept = [
    'PATH',
    'HOME',
    'TMPDIR',
    'TZ',
    'LANG',
    'SystemRoot',
    'http_proxy',
    'https_proxy',
    'no_proxy',
  ];
  const own = Object.fromEntries(kept.map((name) => [name, process.env[name]]));
  return { ...own, ...more };
}
