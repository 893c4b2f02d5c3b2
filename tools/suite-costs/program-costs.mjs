import { readFileSync } from 'node:fs';
import { processesIn } from './group.mjs';

const EVERY_MS = 500;
const TICKS_PER_SECOND = 100;

/**
 * Samples the processes of a group until `stop` is called, which returns the processor seconds by program. It misses
 * processes that live less than half a second.
 *
 * @param {string} group
 * @returns {{ stop: () => Record<string, number> }}
 */
export function samplePrograms(group) {
  /** The last sight of each process. */
  const seen = new Map();
  const sample = () => {
    for (const pid of processesIn(group)) {
      const sight = look(pid);
      if (sight !== undefined) seen.set(sight.identity, sight);
    }
  };
  const timer = setInterval(sample, EVERY_MS).unref();
  return {
    stop: () => {
      clearInterval(timer);
      sample();
      const byProgram = {};
      for (const { program, seconds } of seen.values())
        byProgram[program] = (byProgram[program] ?? 0) + seconds;
      return byProgram;
    },
  };
}

function look(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user, system, start] = [fields[11], fields[12], fields[19]];
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    return {
      identity: `${pid} ${start}`,
      program: programOf(line.split('\0'), name),
      seconds: (Number(user) + Number(system)) / TICKS_PER_SECOND,
    };
  } catch {
    return undefined;
  }
}

function programOf(words, name) {
  const line = words.join(' ');
  const app = /apps\/([\w-]+)\/dist\//.exec(line);
  if (app !== null) return `apps/${app[1]}`;
  if (/templates\/[\w-]+|agent\.(bundle\.)?mjs/.test(line)) return 'agent of a template';
  if (line.includes('vitest')) return line.includes('/workers/') ? 'vitest workers' : 'vitest';
  if (/^postgres|postgres$/.test(words[0] ?? '')) return 'postgres';
  const script = words.find((word) => /\.[mc]?[jt]s$/.test(word));
  if (/^node\b/.test(name) || name === 'MainThread')
    return `node ${script?.split('/').slice(-3).join('/') ?? ''}`.trim();
  return name;
}
