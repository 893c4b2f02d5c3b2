import { FakeUpstream } from './fake-upstream.js';
import type { Behaviour } from './behaviour.js';

/**
 * Runs the upstream as a program: `node upstream.main.js [port] [behaviours]`, the behaviours as JSON by name of the
 * model. Prints its address, and ends on SIGTERM.
 */
const [port = '0', behaviours = '{}'] = process.argv.slice(2);
const upstream = await FakeUpstream.start({ port: Number(port) });
for (const [model, behaviour] of Object.entries(JSON.parse(behaviours) as Record<string, Behaviour>))
  upstream.on(model, behaviour);
process.stdout.write(`${upstream.url}\n`);
process.on('SIGTERM', () => void upstream.stop());
