import type { BenchOptions } from '../options.js';
import { appPart } from './app.part.js';
import { appendPart } from './append.part.js';
import { auditPart } from './audit.part.js';
import { buildPart } from './build.part.js';
import { chatPart } from './chat.part.js';
import { computersPart } from './computers.part.js';
import { containerExecPart } from './container-exec.part.js';
import { containerManyPart } from './container-many.part.js';
import { containerMemoryPart } from './container-memory.part.js';
import { containerStartPart } from './container-start.part.js';
import { containerVolumePart } from './container-volume.part.js';
import { endUsersPart } from './end-users.part.js';
import { execPart } from './exec.part.js';
import { filesPart } from './files.part.js';
import { gatewayPart } from './gateway.part.js';
import { llmPart } from './llm.part.js';
import { loadPart } from './load.part.js';
import { memoryPart } from './memory.part.js';
import { natsPart } from './nats.part.js';
import type { Part } from './part.js';
import { rebuildPart } from './rebuild.part.js';
import { schedulesPart } from './schedules.part.js';
import { startPart } from './start.part.js';
import { usagePart } from './usage.part.js';
import { wakePart } from './wake.part.js';
import { webhookPart } from './webhook.part.js';

/** In execution order: first on the embedded parts alone, then on a Berth next to them, then on a whole Berth. */
export const PARTS: readonly Part[] = [
  natsPart,
  appendPart,
  loadPart,
  rebuildPart,
  execPart,
  endUsersPart,
  auditPart,
  usagePart,
  gatewayPart,
  appPart,
  chatPart,
  wakePart,
  webhookPart,
  schedulesPart,
  filesPart,
  computersPart,
  memoryPart,
  startPart,
  buildPart,
  llmPart,
  containerStartPart,
  containerExecPart,
  containerMemoryPart,
  containerVolumePart,
  containerManyPart,
];

/** The parts that `--only` names; by default those that need containers with `--containers`, and the others without. */
export const chosenParts = ({
  only,
  containers,
}: Pick<BenchOptions, 'only' | 'containers'>): readonly Part[] =>
  PARTS.filter(({ name, needs }) =>
    only.length === 0 ? (needs === 'containers') === containers : only.includes(name),
  );
