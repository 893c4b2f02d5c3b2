import { ACCOUNTS } from './accounts.breaks.mjs';
import { AGENTS } from './agents.breaks.mjs';
import { CLI } from './cli.breaks.mjs';
import { COMPUTER_ACTIONS } from './computer-actions.breaks.mjs';
import { COMPUTER_COMMANDS } from './computer-commands.breaks.mjs';
import { COMPUTER_HOSTS } from './computer-hosts.breaks.mjs';
import { COMPUTER_LIFE } from './computer-life.breaks.mjs';
import { COMPUTERS_GATEWAY } from './computers-gateway.breaks.mjs';
import { DESKTOP_DISPLAYS } from './desktop-displays.breaks.mjs';
import { DESKTOPS } from './desktops.breaks.mjs';
import { CLIENT } from './client.breaks.mjs';
import { DOORS } from './doors.breaks.mjs';
import { END_USERS } from './end-users.breaks.mjs';
import { EXECUTIONS } from './executions.breaks.mjs';
import { FILES } from './files.breaks.mjs';
import { GATEWAY } from './gateway.breaks.mjs';
import { INSTALLATIONS } from './installations.breaks.mjs';
import { LLM } from './llm.breaks.mjs';
import { PLATFORM } from './platform.breaks.mjs';
import { RUNTIME } from './runtime.breaks.mjs';
import { USAGE } from './usage.breaks.mjs';
import { WHOLE } from './whole.breaks.mjs';

const AREAS = {
  whole: WHOLE,
  installations: INSTALLATIONS,
  accounts: ACCOUNTS,
  agents: AGENTS,
  cli: CLI,
  'computer-commands': COMPUTER_COMMANDS,
  desktops: DESKTOPS,
  client: CLIENT,
  doors: DOORS,
  'end-users': END_USERS,
  executions: EXECUTIONS,
  files: FILES,
  gateway: GATEWAY,
  llm: LLM,
  platform: PLATFORM,
  runtime: RUNTIME,
  usage: USAGE,
  'computer-actions': COMPUTER_ACTIONS,
  'computer-hosts': COMPUTER_HOSTS,
  'computers-gateway': COMPUTERS_GATEWAY,
  'computer-life': COMPUTER_LIFE,
  'desktop-displays': DESKTOP_DISPLAYS,
};

export const AREA_NAMES = Object.keys(AREAS);

/**
 * All breaks, with the area that they belong to.
 *
 * @type {readonly (import('./judge.mjs').Mutation & { area: string })[]}
 */
export const MUTATIONS = Object.entries(AREAS).flatMap(([area, breaks]) =>
  breaks.map((one) => ({ area, ...one })),
);
