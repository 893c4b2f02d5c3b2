import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { ensureReady, log, ROOT, runTool } from './ensure-installed.mjs';
import { ensureBroker } from './ensure-broker.mjs';
import { makeCopy, removeCopies } from './mutations/copy.mjs';
import { inShard, problemsOf } from './mutations/judge.mjs';
import { AREA_NAMES, MUTATIONS } from './mutations/list.mjs';
import { testOnce, tryBreaks } from './mutations/try-breaks.mjs';
import { exitCodeOf } from './run-child.mjs';

// `npm run mutate`: breaks one rule after the other in a copy of this checkout and runs the test that must fail, which
// prints one line each. Names of areas, those of the files in `tools/mutations`, select their breaks; other words select
// those whose guarantee or file contains them all. `--lane fast` leaves out those that only a whole installation can show, and
// `--lane e2e` the others. `--shard 3/48` selects a part of what is left.

const COPIES_AT_MOST = 2;
/** So that the copies end at about the same time. */
const MOST_IN_GROUP = 8;

const { words, lane, shard } = readArguments(process.argv.slice(2));

await runTool(async () => {
  const chosen = inShard(
    MUTATIONS.filter((one) => isChosen(one)),
    shard,
  );
  const problems = problemsOf(chosen, ROOT);
  for (const problem of problems) log(problem);
  if (chosen.length === 0) log('No break of the list matches.');
  if (problems.length > 0 || chosen.length === 0) return 1;
  const node = await ensureReady();
  await ensureBroker(node);
  process.once('exit', () => removeCopies(ROOT));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.once(signal, () => process.exit(exitCodeOf(null, signal)));
  removeCopies(ROOT);
  return report(await runAll(node, chosen));
});

function readArguments(given) {
  const { values, positionals } = parseArgs({
    args: given,
    allowPositionals: true,
    options: { lane: { type: 'string' }, shard: { type: 'string', default: '1/1' } },
  });
  return { words: positionals, ...values };
}

function isChosen(mutation) {
  const areas = words.filter((word) => AREA_NAMES.includes(word));
  const others = words.filter((word) => !AREA_NAMES.includes(word));
  const text = `${mutation.guarantee} ${mutation.file}`.toLowerCase();
  return (
    (areas.length === 0 || areas.includes(mutation.area)) &&
    (lane === undefined || lane === (mutation.lane ?? 'fast')) &&
    others.every((word) => text.includes(word.toLowerCase()))
  );
}

async function runAll(node, chosen) {
  const groups = groupsOf(chosen);
  const count = Math.min(COPIES_AT_MOST, availableParallelism(), groups.length);
  const copies = Array.from({ length: count }, (_, index) => makeCopy(ROOT, String(index + 1)));
  const fair = await testOnce(node, copies[0], chosen);
  const results = chosen.filter((one) => !fair.has(one)).map(unfairFromTheStart);
  const left = groups.map((group) => group.filter((one) => fair.has(one)));
  const work = async (copy) => {
    for (let group = left.shift(); group !== undefined; group = left.shift()) {
      for await (const result of tryBreaks(node, copy, group)) {
        print(result);
        results.push(result);
      }
    }
  };
  await Promise.all(copies.map(work));
  return results;
}

/** Breaks of one package follow each other, because each of them has it built again; the largest groups come first. */
function groupsOf(chosen) {
  const packageOf = ({ file }) => file.split('/src/')[0];
  const groups = [...new Set(chosen.map(packageOf))].flatMap((name) => {
    const all = chosen.filter((one) => packageOf(one) === name);
    const count = Math.ceil(all.length / MOST_IN_GROUP);
    return Array.from({ length: count }, (_, at) => all.slice(at * MOST_IN_GROUP, (at + 1) * MOST_IN_GROUP));
  });
  return groups.sort((one, other) => other.length - one.length);
}

function unfairFromTheStart(mutation) {
  const result = {
    mutation,
    verdict: 'UNFAIR',
    reason: 'without the break, no test of the title runs and passes',
  };
  print(result);
  return result;
}

function print({ mutation, verdict, reason, seconds }) {
  const where =
    verdict === 'caught' ? '' : `\n         ${mutation.file} · ${mutation.test} · ${mutation.title}`;
  const time = seconds === undefined ? '' : ` (${seconds} s)`;
  log(`${verdict.padEnd(8)} ${mutation.guarantee}${time}${reason ? `: ${reason}` : ''}${where}`);
}

function report(results) {
  const count = (verdict) => results.filter((one) => one.verdict === verdict).length;
  const more = [
    ['INVALID', 'not valid'],
    ['UNFAIR', 'not fair'],
  ].flatMap(([verdict, words]) => (count(verdict) > 0 ? [`, ${count(verdict)} ${words}`] : []));
  log(`\n${count('caught')} caught, ${count('SURVIVED')} survived${more.join('')}`);
  // A test that fails anyway, on a machine that is too busy for it, says nothing about the break.
  return count('SURVIVED') + count('INVALID') === 0 && count('caught') > 0 ? 0 : 1;
}
