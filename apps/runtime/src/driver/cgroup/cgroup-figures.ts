/** The value of a `name value` line, as in memory.stat, cpu.stat and memory.events; undefined without such a line. */
export const lineValue = (text: string, name: string): number | undefined => {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return toCount(line?.slice(name.length + 1) ?? '');
};

/** A file with one number; undefined if it has another content, for example `max`. */
export const toCount = (text: string): number | undefined =>
  /^\d+$/.test(text.trim()) ? Number(text.trim()) : undefined;

/** Memory without the file cache that the kernel can drop at once. */
export const usedMemory = (version: 1 | 2, usage: string, stat: string): number | undefined => {
  const total = toCount(usage);
  const droppable = lineValue(stat, version === 2 ? 'inactive_file' : 'total_inactive_file') ?? 0;
  return total === undefined ? undefined : Math.max(0, total - droppable);
};

/** Processor seconds from cpu.stat (version 2, microseconds) or cpuacct.usage (version 1, nanoseconds). */
export const processorSeconds = (version: 1 | 2, text: string): number | undefined => {
  const count = version === 2 ? lineValue(text, 'usage_usec') : toCount(text);
  return count === undefined ? undefined : count / (version === 2 ? 1e6 : 1e9);
};
