const APP = 'apps/computers/src';
const DECIDER_SPEC = `${APP}/computer/computer.decider.spec.ts`;
const VIEWER_SPEC = `${APP}/viewer/viewer.int-spec.ts`;
const ADMISSION_SPEC = `${APP}/suspension/admission.int-spec.ts`;
const USES_SPEC = `${APP}/uses.int-spec.ts`;

/** The life of computers, their uses, and who may look at them. */
export const COMPUTER_LIFE = [
  {
    guarantee: 'An end user has one computer.',
    file: `${APP}/claim/computer-of-end-user.ts`,
    find: 'claim.computerId === instead',
    replace: "claim.computerId === instead || computerId !== ''",
    test: `${APP}/claim/computer-of-end-user.spec.ts`,
    title: 'is held by the first, and by no later one',
  },
  {
    guarantee: 'A computer that has failed is not started by a use.',
    file: `${APP}/computer/decide-requested.ts`,
    find: 'if (!retry || isRemoved(computer))',
    replace: "if ((!retry && at === '') || isRemoved(computer))",
    test: DECIDER_SPEC,
    title: 'of a computer that has failed is refused, unless it is to try again',
  },
  {
    guarantee: 'A lost computer is known to have run until the last report of its host only.',
    file: `${APP}/computer/computer.decider.ts`,
    find: 'return afterLastReport(command, computer, failWithHost(command, computer));',
    replace: 'return failWithHost(command, computer);',
    test: DECIDER_SPEC,
    title: 'fails its computers, of which one that ran is known to have run until the last report',
  },
  {
    guarantee: 'A report about an earlier epoch changes nothing.',
    file: `${APP}/computer/computer.decider.ts`,
    find: "command.type !== 'Stop' && 'epoch' in command && command.epoch !== computer.epoch",
    replace: "command.type !== 'Stop' && 'epoch' in command && command.epoch > computer.epoch",
    test: DECIDER_SPEC,
    title: 'that its host cannot carry out fails the computer',
  },
  {
    guarantee: 'A suspended end user uses no computer.',
    file: `${APP}/computer/admission.ts`,
    find: 'await this.suspensions.requireActive(owner);\n    if',
    replace: 'if',
    test: ADMISSION_SPEC,
    title: 'sleep cold as soon as it is suspended, and refuse whatever uses them',
  },
  {
    guarantee: 'Computers need the add-on.',
    file: `${APP}/computer/admission.ts`,
    find: "if (!(await this.plans.hasAddon(owner.accountId, 'computers')))",
    replace: "if ((await this.plans.hasAddon(owner.accountId, 'computers')) && owner.accountId === '')",
    test: ADMISSION_SPEC,
    title: 'can be read, put to sleep and deleted, and nothing else',
  },
  {
    guarantee: 'The second socket of a viewer session is refused.',
    file: `${APP}/viewer/viewer-session.ts`,
    find: 'if (state.openedAt !== null)',
    replace: "if (state.openedAt !== null && state.status === 'ended')",
    test: `${APP}/viewer/viewer-session.spec.ts`,
    title: 'is used up by its first socket',
  },
  {
    guarantee: 'A viewer session ends when the key is revoked that made it.',
    file: `${APP}/viewer/viewer-sessions.query.ts`,
    find: "WHERE k.key_id = s.key_id) THEN 'key'",
    replace: "WHERE k.key_id = s.id) THEN 'key'",
    test: VIEWER_SPEC,
    title: 'ends when its key is revoked, however often the event of it arrives',
  },
  {
    guarantee: 'The socket of a viewer ends with the sleep of the computer.',
    file: `${APP}/viewer/viewer-sessions.query.ts`,
    find: "l.state NOT IN ('starting', 'running') THEN 'computer'",
    replace: "l.state NOT IN ('starting', 'running', 'sleeping') THEN 'computer'",
    test: VIEWER_SPEC,
    title: 'ends with the sleep of its computer if it is open, and waits on if not',
  },
  {
    guarantee: 'What came of a batch counts once.',
    file: `${APP}/use/computer-use.ts`,
    find: "if (event.type === 'ActionsDone' && !openBatches.includes(event.data.batchId)) return [];",
    replace: '',
    test: `${APP}/use/computer-use.spec.ts`,
    title: 'counts what came of a batch once, however often it is reported',
  },
  {
    guarantee: 'An invalid path wakes no computer.',
    file: `${APP}/use/computer-transfers.ts`,
    find: 'if (problem === undefined) return;',
    replace: 'if (problem !== null) return;',
    test: USES_SPEC,
    title: 'of an invalid path is refused without waking the computer',
  },
];
