import { appendPart } from './append.part.js';
import { chatPart } from './chat.part.js';
import { execPart } from './exec.part.js';
import { filesPart } from './files.part.js';
import { gatewayPart } from './gateway.part.js';
import { loadPart } from './load.part.js';
import { memoryPart } from './memory.part.js';
import { natsPart } from './nats.part.js';
import type { Part } from './part.js';
import { rebuildPart } from './rebuild.part.js';
import { startPart } from './start.part.js';
import { wakePart } from './wake.part.js';

/** In execution order: first on the embedded parts alone, then on a Berth next to them, then on a whole Berth. */
export const PARTS: readonly Part[] = [
  natsPart,
  appendPart,
  loadPart,
  rebuildPart,
  execPart,
  gatewayPart,
  chatPart,
  wakePart,
  filesPart,
  memoryPart,
  startPart,
];
