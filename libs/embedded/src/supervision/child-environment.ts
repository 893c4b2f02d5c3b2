/**
 * The variables of a child: enough to run, and nothing from this process's configuration (which includes URLs and
 * keys).
 */
export function childEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const kept = [
    'PATH',
    'HOME',
    'TMPDIR',
    'TZ',
    'LANG',
    'SystemRoot',
    'NODE_COMPILE_CACHE',
    'http_proxy',
    'https_proxy',
    'no_proxy',
  ];
  const own = Object.fromEntries(kept.map((name) => [name, process.env[name]]));
  return { ...own, ...more };
}
