const DESKTOP = 'apps/guest/src/desktop';
const BATCHES = `${DESKTOP}/batches/batches.ts`;
const RUN = `${DESKTOP}/batches/batch-run.ts`;
const BATCHES_INT = `${DESKTOP}/batches/batches.int-spec.ts`;
const VIEWERS_INT = `${DESKTOP}/vnc/viewers.int-spec.ts`;
const WORKLOAD_INT = `${DESKTOP}/desktop-workload.int-spec.ts`;

/** What the guest of a computer does for its host: batches of actions, viewers and images. */
export const DESKTOPS = [
  {
    guarantee: 'A viewer that only looks gets nothing of the clipboard.',
    file: `${DESKTOP}/vnc/viewers.ts`,
    find: '.vncPasswords[session.mode]',
    replace: '.vncPasswords.control',
    test: VIEWERS_INT,
    title: 'gets nothing of the clipboard',
  },
  {
    guarantee: 'The guest passes no pointer of a viewer that only looks.',
    file: `${DESKTOP}/vnc/view-filter.ts`,
    find: '[5, fixed(false, 6)]',
    replace: '[5, fixed(true, 6)]',
    test: `${DESKTOP}/vnc/view-filter.spec.ts`,
    title: 'pass if they look, and are dropped if they act, however the bytes arrive',
  },
  {
    guarantee: 'Actions are refused while a person has taken a computer over.',
    file: BATCHES,
    find: '    this.#takeover.signal.throwIfAborted();\n',
    replace: '',
    test: VIEWERS_INT,
    title: 'that take over fail the action under way and skip the rest (of %s batches)',
  },
  {
    guarantee: 'A person who takes a computer over fails the action under way at once.',
    file: BATCHES,
    find: 'AbortSignal.any([end, this.#takeover.signal])',
    replace: 'AbortSignal.any([end])',
    test: VIEWERS_INT,
    title: 'that take over have the keys and buttons let go that the action under way holds',
  },
  {
    guarantee: 'Closing the viewer of a takeover gives the computer back.',
    file: BATCHES,
    find: 'if (this.#takeover.signal.aborted) this.#takeover',
    replace: 'if (!this.#takeover.signal.aborted) this.#takeover',
    test: VIEWERS_INT,
    title: 'that take over fail the action under way and skip the rest (of %s batches)',
  },
  {
    guarantee: 'Keys that a batch holds are let go when it ends.',
    file: RUN,
    find: 'await keyboard.releaseAll().catch(() => undefined);',
    replace: 'await keyboard.up(0).catch(() => undefined);',
    test: BATCHES_INT,
    title: 'lets the keys go that it holds when it ends, and leaves mouse buttons as they are',
  },
  {
    guarantee: 'An action that holds a key leaves it down if it was down before.',
    file: `${DESKTOP}/batches/perform-step.ts`,
    find: 'state.keys?.has(key) !== false',
    replace: 'state.keys?.has(key) !== undefined',
    test: BATCHES_INT,
    title: 'leaves a key that was held before down after an action that holds it too',
  },
  {
    guarantee: 'Batches of one computer run in order of arrival.',
    file: BATCHES,
    find: 'new Semaphore(1)',
    replace: 'new Semaphore(2)',
    test: BATCHES_INT,
    title: 'run one at a time in order of arrival, and of 102 the last is refused',
  },
  {
    guarantee: 'At most 100 batches wait for a computer.',
    file: BATCHES,
    find: '> MOST_WAITING',
    replace: '> MOST_WAITING + 1',
    test: BATCHES_INT,
    title: 'run one at a time in order of arrival, and of 102 the last is refused',
  },
  {
    guarantee: 'A closing image shows the screen when it is still.',
    file: RUN,
    find: 'unlessAborted(desktop.screen.untilStill(), interruption)',
    replace: 'unlessAborted(Promise.resolve(), interruption)',
    test: BATCHES_INT,
    title: 'waits with its closing image until the screen is still',
  },
  {
    guarantee: 'A batch whose desktop is lost has no outcome.',
    file: RUN,
    find: 'cursor: await pointer.position(),',
    replace: 'cursor: await pointer.position().catch(() => ({ x: 0, y: 0 })),',
    test: WORKLOAD_INT,
    title: 'ends a batch whose X server is killed without an outcome, reports that, and starts another',
  },
  {
    guarantee: 'A batch under way ends before its computer is frozen.',
    file: BATCHES,
    find: 'this.#end.abort(desktopUnavailable());',
    replace: '',
    test: WORKLOAD_INT,
    title: 'ends what is under way before it is frozen, and begins nothing until it is awake again',
  },
  {
    guarantee: 'Viewers are closed before their computer is frozen.',
    file: `${DESKTOP}/desktop-workload.ts`,
    find: '        viewers.quiesce();\n',
    replace: '',
    test: WORKLOAD_INT,
    title: 'ends what is under way before it is frozen, and begins nothing until it is awake again',
  },
  {
    guarantee: "Nobody but the computer's user enters the folder of its desktop.",
    file: `${DESKTOP}/session/user-folder.ts`,
    find: 'umask 077',
    replace: 'umask 022',
    test: WORKLOAD_INT,
    title: 'gives it a folder that only its user enters',
  },
  {
    guarantee: 'A desktop runs as the user of its computer.',
    file: `${DESKTOP}/session/desktop-process.ts`,
    find: 'asAgent(runAs, { ...program',
    replace: 'asAgent(runAs && null, { ...program',
    test: WORKLOAD_INT,
    title: 'runs its programs, and commands on it, as its user, at home in the volume',
  },
  {
    guarantee: 'Images wait in memory for few callers at a time.',
    file: `${DESKTOP}/screen/screenshot.route.ts`,
    find: 'new Semaphore(IMAGES_AT_A_TIME)',
    replace: 'new Semaphore(IMAGES_AT_A_TIME * 10)',
    test: `${DESKTOP}/screen/screenshot.int-spec.ts`,
    title:
      'keeps only few images in memory for callers that do not read, and the others get theirs after them',
  },
];
