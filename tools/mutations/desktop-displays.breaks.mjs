const DESKTOP = 'apps/guest/src/desktop';
const CLIPBOARD = `${DESKTOP}/clipboard/clipboard.ts`;
const CLIPBOARD_INT = `${DESKTOP}/clipboard/clipboard.int-spec.ts`;
const KEYBOARD = `${DESKTOP}/input/keyboard.ts`;
const KEYBOARD_INT = `${DESKTOP}/input/keyboard.int-spec.ts`;
const POINTER = `${DESKTOP}/input/pointer.ts`;
const POINTER_INT = `${DESKTOP}/input/pointer.int-spec.ts`;
const SCREEN = `${DESKTOP}/screen/screen.ts`;
const SCREEN_INT = `${DESKTOP}/screen/screen.int-spec.ts`;
const SESSION = `${DESKTOP}/session/desktop-session.ts`;
const SESSION_PLAN = `${DESKTOP}/session/desktop-session.plan.ts`;
const SESSION_INT = `${DESKTOP}/session/desktop-session.int-spec.ts`;

/** The displays of desktops: their programs, keyboards, pointers, screens and clipboards. */
export const DESKTOP_DISPLAYS = [
  {
    guarantee: 'Nobody reaches the display of a computer without its secret.',
    file: SESSION_PLAN,
    find: "...['-auth', `${runtime}/${AUTHORITY_FILE}`, '-nolisten', 'tcp'],",
    replace: "...['-ac', '-nolisten', 'tcp'],",
    test: SESSION_INT,
    title: 'lets nobody to its display who does not know its secret',
  },
  {
    guarantee: 'The window manager of a desktop is started again when it ends.',
    file: SESSION,
    find: 'if (!this.#ending) this.#keep(program, endsNow);',
    replace: 'if (this.#ending) this.#keep(program, endsNow);',
    test: SESSION_INT,
    title: 'starts its window manager again when that ends',
  },
  {
    guarantee: 'A program that has run for a minute is started again however often it ended before.',
    file: SESSION_PLAN,
    find: '(ranMs < WORKS_MS ? before + 1 : 1)',
    replace: '(ranMs < WORKS_MS * 1_000 ? before + 1 : 1)',
    test: `${DESKTOP}/session/desktop-session.plan.spec.ts`,
    title: 'are counted until it has run for a minute once',
  },
  {
    guarantee: 'A desktop that does not start leaves no file.',
    file: SESSION,
    find: '      await removeUserFolder(place, place.runtime);\n      throw error;',
    replace: '      throw error;',
    test: SESSION_INT,
    title: 'leaves nothing when its X server does not start',
  },
  {
    guarantee: 'A desktop whose X server is killed leaves no file.',
    file: SESSION,
    find: 'await removeAbandonedSocket(this.number);',
    replace: 'if (this.#ending) return;\n    await removeAbandonedSocket(this.number);',
    test: SESSION_INT,
    title: 'leaves nothing when its X server has been killed',
  },
  {
    guarantee: 'Text is typed exactly although capitals are locked.',
    file: KEYBOARD,
    find: 'if (isLocked) this.input.lock(CAPS_LOCK, false);',
    replace: '',
    test: KEYBOARD_INT,
    title: 'types exactly whatever the keyboard map and its locks are',
  },
  {
    guarantee: 'Capitals are locked again however the typing ends.',
    file: KEYBOARD,
    find: 'if (wasLocked) this.input.lock(CAPS_LOCK, true);',
    replace: 'if (!wasLocked) this.input.lock(CAPS_LOCK, false);',
    test: KEYBOARD_INT,
    title: 'locks capitals again although the text could not be entered to its end',
  },
  {
    guarantee: 'Text is typed exactly, however many of its characters are on no key.',
    file: KEYBOARD,
    find: 'await this.barrier.pass();',
    replace: 'if (held.size > map.spare.length) await this.barrier.pass();',
    test: KEYBOARD_INT,
    title: 'types more different characters than the keyboard map has keys to spare',
  },
  {
    guarantee: 'A capital is entered as one where the keyboard map has no shift.',
    file: KEYBOARD,
    find: 'if (known !== undefined && !known.shift) return { keycode: known.keycode };',
    replace: 'if (known !== undefined && shift === undefined) return { keycode: known.keycode };',
    test: KEYBOARD_INT,
    title: 'enters a capital with a key of its own where the keyboard map has no shift',
  },
  {
    guarantee: 'All keys that are held can be let go together.',
    file: KEYBOARD,
    find: 'for (const keysym of [...this.#held.keys()].toReversed()) await this.up(keysym);',
    replace: 'await this.sync();',
    test: KEYBOARD_INT,
    title: 'holds a capital with shift until all keys are let go',
  },
  {
    guarantee: 'Of a text that cannot be typed whole, nothing is typed.',
    file: 'libs/contracts/src/computers/actions/character-keysym.ts',
    find: 'if (isControl || isSurrogate) return undefined;',
    replace: 'if (isSurrogate || (isControl && code === 0)) return undefined;',
    test: KEYBOARD_INT,
    title: 'refuses a text with a control character that no key enters before it types anything',
  },
  {
    guarantee: 'A drag goes through all of its points.',
    file: POINTER,
    find: '  const count = Math.max(1, Math.ceil(',
    replace: '  const count = Math.min(1, Math.ceil(',
    test: POINTER_INT,
    title: 'drags through all points of a path with the left button down, in small steps',
  },
  {
    guarantee: 'A screenshot has every change of the screen.',
    file: `${DESKTOP}/screen/frame-source.ts`,
    find: '      this.#isWhole = false;\n',
    replace: '',
    test: `${DESKTOP}/screen/frame-source.int-spec.ts`,
    title: 'has every change although the request for its pixels failed once',
  },
  {
    guarantee: 'A screenshot is no older than the call for it.',
    file: SCREEN,
    find: '        this.#next = undefined;\n',
    replace: '',
    test: SCREEN_INT,
    title: 'shows each pixel in its colour, also what has changed since the last image',
  },
  {
    guarantee: 'A screenshot shows the screen as it was when it says it was captured.',
    file: SCREEN,
    find: `    return this.#encoding.run(async () => {
      const view = await this.#view();
      const capturedAt = Date.now();
`,
    replace: `    const looked = this.#view().then((view) => ({ view, capturedAt: Date.now() }));
    return this.#encoding.run(async () => {
      const { view, capturedAt } = await looked;
`,
    test: SCREEN_INT,
    title:
      'makes each image of what was on the screen when it was captured, however many wait for their turn',
  },
  {
    guarantee: 'The screen is copied by one look at a time.',
    file: SCREEN,
    find: '        this.#latest = look;\n',
    replace: '',
    test: SCREEN_INT,
    title: 'looks at the display once at a time, whenever its callers come',
  },
  {
    guarantee: 'A screen is still when nothing has changed for 300 ms.',
    file: SCREEN,
    find: '{ forMs: 300, mostMs: 3_000, checkMs: 50 }',
    replace: '{ forMs: 100, mostMs: 3_000, checkMs: 50 }',
    test: SCREEN_INT,
    title: 'is still 300 ms after the last change, and is waited for 3 s at most',
  },
  {
    guarantee: 'Painting the background again takes nothing more of the X server.',
    file: `${DESKTOP}/session/wallpaper.ts`,
    find: 'if (former !== undefined)',
    replace: 'if (former === pixmap)',
    test: `${DESKTOP}/session/wallpaper.int-spec.ts`,
    title: 'takes one picture of the X server however often it is painted',
  },
  {
    guarantee: 'The clipboard has what was put on it last, by whichever program.',
    file: CLIPBOARD,
    find: 'if (owner === this.#window) return',
    replace: "if (owner === this.#window || this.#text !== '') return",
    test: CLIPBOARD_INT,
    title: 'reads the text of another program, and after that what is put on it anew',
  },
  {
    guarantee: 'A program gets the text of the clipboard with all of its characters, or not at all.',
    file: CLIPBOARD,
    find: "Buffer.from(this.#text, 'latin1').toString('latin1') === this.#text",
    replace: "Buffer.from(this.#text, 'latin1').toString('latin1') !== ''",
    test: CLIPBOARD_INT,
    title: 'gives old programs the text in Latin 1 only if that has all of its characters',
  },
];
