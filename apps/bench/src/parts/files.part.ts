import { writeFile } from 'node:fs/promises';
import { BenchError } from '../bench-error.js';
import type { BenchContext, Effort } from '../context.js';
import { AgentShell } from '../exec/agent-shell.js';
import { startBareFiles, type BareFiles } from '../files/bare-files.js';
import { FileServer } from '../files/file-server.js';
import { payloadOf, prepareUpload, type PreparedUpload } from '../files/payload.js';
import { compare, type Comparison, type Side } from '../measure/compare.js';
import type { Inventory } from '../measure/inventory.js';
import { bulk } from '../measure/loops.js';
import { repeatedSide } from '../measure/repeated-side.js';
import { CleanUp } from '../peers/clean-up.js';
import type { BerthProgram } from '../programs/berth-program.js';
import { growthDuring } from '../programs/peak-memory.js';
import type { Part, Section } from './part.js';

/** The maximum size of a file. */
const MEBIBYTES = 100;
const BYTES = MEBIBYTES * 2 ** 20;
const LARGE = { name: 'large.bin', bytes: BYTES };
/** For warming up: small enough that memory growth caused by a file's size would still show later. */
const SMALL = { name: 'small.bin', bytes: BYTES / 10 };
const FOLDER = 'many';
const ENTRIES = 10_000;
const OUTPUT_BYTES = 200_000_000;
const GROWTH_AIM_MIB = 64;
const TIMES = 3;

/** File transfers through the public API, compared with a minimal server; and the effect of large files on memory. */
export const filesPart: Part = {
  name: 'files',
  async run(context) {
    const cleanUp = new CleanUp();
    try {
      return await measure(await open(context, cleanUp));
    } finally {
      await cleanUp.run();
    }
  },
};

const open = async (context: BenchContext, cleanUp: CleanUp): Promise<Measured> => {
  const berth = await context.berth();
  const agent = await berth.createAgent('files bench', 'blank');
  const { url, key } = berth.api;
  const server = new FileServer(url, `/api/agents/${agent}`, { authorization: `Bearer ${key ?? ''}` });
  cleanUp.add(() => server.close());
  const shell = new AgentShell(berth.api, agent);
  cleanUp.add(() => shell.close());
  const bare = await startBareFiles(context);
  cleanUp.add(() => bare.close());
  const file = context.file('written.bin');
  return { effort: context.effort, berth, server, shell, bare, upload: formOf(LARGE), file };
};

const formOf = ({ name, bytes }: typeof LARGE): PreparedUpload =>
  prepareUpload(name, payloadOf(bytes), { dest_dir: '.' });

interface Measured {
  readonly effort: Effort;
  readonly berth: BerthProgram;
  readonly server: FileServer;
  readonly shell: AgentShell;
  readonly bare: BareFiles;
  readonly upload: PreparedUpload;
  /** A file on the same disk, written directly. */
  readonly file: string;
}

/** Memory first: growth would be hidden by memory that the comparisons leave allocated. */
const measure = async (measured: Measured): Promise<readonly Section[]> => [
  ...(await growth(measured)),
  await uploads(measured),
  await downloads(measured),
  await lists(measured),
];

const growth = async ({ berth, server, shell, upload }: Measured): Promise<readonly Inventory[]> => {
  const small = formOf(SMALL);
  const inventory = async (
    title: string,
    warmUp: () => Promise<unknown>,
    work: () => Promise<unknown>,
  ): Promise<Inventory> => {
    await times(TIMES, warmUp);
    const grown = await growthDuring(berth.program.pid, () => times(TIMES, work));
    const items = grown.map(({ kind, mebibytes }) => ({ name: kind, value: mebibytes }));
    return { kind: 'inventory', title, unit: 'MiB', items, aim: GROWTH_AIM_MIB };
  };
  return [
    await inventory(
      `Peak growth of resident memory during ${TIMES} uploads of ${MEBIBYTES} MiB`,
      () => uploadTo(server, small, SMALL.bytes),
      () => uploadTo(server, upload, BYTES),
    ),
    await inventory(
      `… during ${TIMES} downloads of ${MEBIBYTES} MiB`,
      () => downloadFrom(server, SMALL),
      () => downloadFrom(server),
    ),
    await inventory(
      `… during ${TIMES} commands that output ${OUTPUT_BYTES / 1e6} MB`,
      () => printOutput(shell, OUTPUT_BYTES / 10),
      () => printOutput(shell, OUTPUT_BYTES),
    ),
  ];
};

const times = async (count: number, work: () => Promise<unknown>): Promise<void> => {
  for (let done = 0; done < count; done++) await work();
};

const uploadTo = async (server: FileServer, upload: PreparedUpload, bytes: number): Promise<number> => {
  const size = await server.upload(upload);
  if (size !== bytes) throw new BenchError(`Of ${bytes} bytes, ${size} were written.`);
  return bytes / 2 ** 20;
};

const writeTo = async (file: string, { body }: PreparedUpload): Promise<number> => {
  await writeFile(file, body);
  return MEBIBYTES;
};

const downloadFrom = async (server: FileServer, { name, bytes } = LARGE): Promise<number> => {
  const received = await server.download(name);
  if (received !== bytes) throw new BenchError(`Of ${bytes} bytes, ${received} arrived.`);
  return bytes / 2 ** 20;
};

const printOutput = async (shell: AgentShell, bytes: number): Promise<void> => {
  const { stdout = '' } = await shell.run(`head -c ${bytes} /dev/zero | tr "\\0" x`);
  if (!/^\[output truncated\]\nx+$/.test(stdout)) throw new BenchError('The end of the output is missing.');
};

const uploads = ({ effort, server, bare, upload, file }: Measured): Promise<Comparison> =>
  compare(
    {
      title: `Upload of a file of ${MEBIBYTES} MiB`,
      measure: 'rate',
      unit: 'MiB',
      aim: 0.6,
      ours: transfer('POST /api/agents/{id}/files/upload', () => uploadTo(server, upload, BYTES)),
      limits: [
        transfer('bare Fastify with a multipart parser', () => uploadTo(bare.server, upload, BYTES)),
        transfer('write of the same bytes to a file', () => writeTo(file, upload)),
      ],
    },
    effort.rounds,
  );

const downloads = ({ effort, server, bare }: Measured): Promise<Comparison> =>
  compare(
    {
      title: `Download of a file of ${MEBIBYTES} MiB`,
      measure: 'rate',
      unit: 'MiB',
      ours: transfer('GET /api/agents/{id}/files/download', () => downloadFrom(server)),
      limits: [transfer('bare Fastify', () => downloadFrom(bare.server))],
    },
    effort.rounds,
  );

const transfer = (name: string, work: () => Promise<number>): Side => ({
  name,
  warmUp: work,
  round: () => bulk(work),
});

const lists = async ({ effort, server, shell, bare }: Measured): Promise<Comparison> => {
  const names = `i=0; while [ $i -lt ${ENTRIES} ]; do : > file-$i; i=$((i+1)); done`;
  await shell.run(`mkdir ${FOLDER} && cd ${FOLDER} && ${names}`);
  bare.fill(FOLDER, ENTRIES);
  const often = { ...effort, concurrency: 1 };
  return compare(
    {
      title: `Listing of a folder with ${ENTRIES.toLocaleString('en')} entries`,
      measure: 'time',
      ours: repeatedSide('GET /api/agents/{id}/files/list', often, () => listOf(server)),
      limits: [repeatedSide('bare Fastify', often, () => listOf(bare.server))],
    },
    effort.rounds,
  );
};

const listOf = async (server: FileServer): Promise<void> => {
  const entries = await server.list(FOLDER);
  if (entries !== ENTRIES) throw new BenchError(`Of ${ENTRIES} entries, ${entries} arrived.`);
};
