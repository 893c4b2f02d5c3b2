const ACTIONS = 'libs/contracts/src/computers/actions';
const PLAN = `${ACTIONS}/plan-actions.ts`;
const PLAN_SPEC = `${ACTIONS}/plan-actions.spec.ts`;
const FORMS_SPEC = `${ACTIONS}/vendor-forms.spec.ts`;
const VENDORS_SPEC = `${ACTIONS}/vendors.spec.ts`;
const ANSWER = `${ACTIONS}/answer-actions.ts`;
const ANSWER_SPEC = `${ACTIONS}/answer-actions.spec.ts`;
const KEYS = `${ACTIONS}/keys.ts`;
const KEYS_SPEC = `${ACTIONS}/keys.spec.ts`;
const MEMBER = `${ACTIONS}/member.ts`;
const PIXELS = `${ACTIONS}/pixel-forms.ts`;
const PLAIN = `${ACTIONS}/plain-forms.ts`;
const SCREEN = `${ACTIONS}/screen.ts`;
const SCREEN_SPEC = `${ACTIONS}/screen.spec.ts`;

/** The actions of computers: what is planned for them, refused and answered. */
export const COMPUTER_ACTIONS = [
  {
    guarantee: 'An unknown member of an action or of the request around it is refused.',
    file: MEMBER,
    find: 'reading.refuseOthers(object, [...known, ...ignored], path);',
    replace: 'reading.refuseOthers(object, [...known, ...ignored, ...Object.keys(object)], path);',
    test: PLAN_SPEC,
    title: '%j is refused with the paths %j',
  },
  {
    guarantee: 'Two names of one member at once are refused.',
    file: MEMBER,
    find: 'if (alias !== undefined && value !== undefined && other !== undefined)',
    replace: 'if (alias !== undefined && value === null && other !== undefined)',
    test: PLAN_SPEC,
    title: '%j is refused with the paths %j',
  },
  {
    guarantee: 'Null is as if a member were left out.',
    file: `${ACTIONS}/reading.ts`,
    find: 'Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;',
    replace: 'Object.hasOwn(object, name) ? object[name] : undefined;',
    test: PLAN_SPEC,
    title: 'is the same with nulls for members that the action does not have',
  },
  {
    guarantee: 'Coordinates outside the display are refused.',
    file: PIXELS,
    find: 'cut(value) >= 0 && cut(value) < screen.size[axis];',
    replace: 'cut(value) >= 0 && cut(value) <= screen.size[axis];',
    test: PLAN_SPEC,
    title: '%j is refused with the paths %j',
  },
  {
    guarantee: 'Fractions of pixels are cut off.',
    file: PIXELS,
    find: 'Math.trunc(value) + 0;',
    replace: 'Math.round(value) + 0;',
    test: PLAN_SPEC,
    title: 'with a type, %j, is %j',
  },
  {
    guarantee: 'A wrong scale makes no pixel wrong.',
    file: PLAN,
    find: 'return isScale(scale) ? scale : 1;',
    replace: 'return isScale(scale) ? scale : 0.1;',
    test: PLAN_SPEC,
    title: 'is refused for the pixels that no scale allows if its scale is wrong',
  },
  {
    guarantee: 'All waits and holds of a request together are bounded.',
    file: PLAIN,
    find: 'return reading.waited <= MOST_WAIT_SECONDS_IN_ALL * 1_000',
    replace: 'return ms <= MOST_WAIT_SECONDS_IN_ALL * 1_000',
    test: PLAN_SPEC,
    title: 'may wait 600 s in all, holds included, and not more',
  },
  {
    guarantee: 'The actions inside an item count one by one towards the limit.',
    file: PLAN,
    find: 'return Array.isArray(actions) ? Math.max(1, actions.length) : 1;',
    replace: 'return Array.isArray(actions) ? Math.min(1, actions.length) : 1;',
    test: PLAN_SPEC,
    title: 'may have 100 actions, those inside items included',
  },
  {
    guarantee: 'A text with a control character that no key enters is refused before anything is done.',
    file: PLAIN,
    find: 'keysymOf(character) !== undefined),',
    replace: "keysymOf(character) !== undefined || character < ' '),",
    test: PLAN_SPEC,
    title: '%j is refused with the paths %j',
  },
  {
    guarantee: 'A drag without a start begins where the pointer is.',
    file: `${ACTIONS}/named-actions.ts`,
    find: 'drag(values.start_coordinate ?? null, values.coordinate)',
    replace: 'drag(values.start_coordinate ?? values.coordinate, values.coordinate)',
    test: PLAN_SPEC,
    title: 'with the name of Anthropic, %j, is %j',
  },
  {
    guarantee: 'A block of the toolset names its toolset.',
    file: `${ACTIONS}/tool-use.ts`,
    find: "if (memberOf(block, 'toolset_name') !== COMPUTER)",
    replace: "if (memberOf(block, 'toolset_name') === null)",
    test: FORMS_SPEC,
    title: '%j is refused with the paths %j',
  },
  {
    guarantee: 'A refused request answers its valid blocks with the sentence of those not tried.',
    file: `${ACTIONS}/refusal-outputs.ts`,
    find: 'problemsAt(path, problems) ?? SKIPPED',
    replace: 'problemsAt(path, problems) ?? SKIPPED.slice(1)',
    test: FORMS_SPEC,
    title: 'that is not valid is answered with what is wrong with it, and the others as not tried',
  },
  {
    guarantee: 'An item with a pending check that is not acknowledged does nothing.',
    file: PLAN,
    find: 'if (pending.every(({ id }) => known.has(id))) return;',
    replace: 'if (pending.length === 0 || pending.some(({ id }) => known.has(id))) return;',
    test: FORMS_SPEC,
    title: 'with pending checks waits for all of them to be named by their ids',
  },
  {
    guarantee: 'A screenshot inside an item is the one at its end.',
    file: `${ACTIONS}/computer-call.ts`,
    find: "return type === 'screenshot' && steps !== undefined ? [] : steps;",
    replace: 'return steps;',
    test: FORMS_SPEC,
    title: 'takes no image for a screenshot inside it: one is made at its end',
  },
  {
    guarantee: 'A letter is unshifted.',
    file: KEYS,
    find: 'characterKeysymOf(isCharacter(lower) ? lower : character)',
    replace: 'characterKeysymOf(isCharacter(lower) ? character : lower)',
    test: KEYS_SPEC,
    title: 'has letters unshifted, but for a capital alone in a text',
  },
  {
    guarantee: 'A capital alone in a text is shifted.',
    file: KEYS,
    find: 'return capital === undefined ? chordOf(text) : [capital];',
    replace: 'return capital === undefined || capital > 0 ? chordOf(text) : [capital];',
    test: KEYS_SPEC,
    title: 'has letters unshifted, but for a capital alone in a text',
  },
  {
    guarantee: 'A distance to scroll is rounded away from zero to notches.',
    file: SCREEN,
    find: 'Math.ceil(exact)',
    replace: 'Math.round(exact)',
    test: SCREEN_SPEC,
    title: 'of %d pixels at scale %d is %d notches',
  },
  {
    guarantee: 'A zoom fills a screenshot and keeps its shape.',
    file: SCREEN,
    find: 'Math.min(size.width / region.width, size.height / region.height)',
    replace: 'Math.max(size.width / region.width, size.height / region.height)',
    test: SCREEN_SPEC,
    title: 'fills the width or the height of a screenshot and keeps its shape',
  },
  {
    guarantee: 'What a failed action has pressed is let go.',
    file: `${ACTIONS}/step.ts`,
    find: 'steps.slice(0, failed + 1).flatMap(pressedBy)',
    replace: 'steps.slice(0, 0).flatMap(pressedBy)',
    test: ANSWER_SPEC,
    title: 'the button and the keys that the action pressed are let go',
  },
  {
    guarantee: 'The pointer is told in pixels that the caller sees.',
    file: ANSWER,
    find: 'cursor: toCaller(plan.screen, outcome.cursor),',
    replace: 'cursor: outcome.cursor,',
    test: ANSWER_SPEC,
    title: 'has what each found out, in pixels that the caller sees',
  },
  {
    guarantee: 'Images of blocks and items are in their outputs only.',
    file: ANSWER,
    find: "vendor.kind === 'none' ? { screenshot: seen.image } : {}",
    replace: "vendor.kind !== 'computer_call' ? { screenshot: seen.image } : {}",
    test: ANSWER_SPEC,
    title: 'has images of blocks and items in their outputs only',
  },
  {
    guarantee: 'An item that is skipped is answered with the screen.',
    file: `${ACTIONS}/action-plan.ts`,
    find: 'screenshot || units.slice(begun).some(hasClosingImage);',
    replace: 'screenshot && units.slice(begun).some(hasClosingImage);',
    test: ANSWER_SPEC,
    title: 'is due if it %s, and no answer is made without it',
  },
  {
    guarantee: 'A block that failed or was skipped is answered as an error.',
    file: `${ACTIONS}/tool-result.ts`,
    find: '  is_error: true,\n',
    replace: '',
    test: ANSWER_SPEC,
    title: 'answers what failed and what was not tried in the form of its vendor',
  },
  {
    guarantee: "A block that succeeded is answered with the sentence of Anthropic's own package.",
    file: `${ACTIONS}/tool-result.ts`,
    find: "hold_key: 'Held {text} for {duration}s.',",
    replace: "hold_key: 'Held {text}.',",
    test: VENDORS_SPEC,
    title: 'are answered as by its own package, whatever the member',
  },
  {
    guarantee: 'An item is answered with the checks that were acknowledged.',
    file: `${ACTIONS}/computer-call-output.ts`,
    find: 'checks.length === 0 ? {}',
    replace: 'checks.length > 0 ? {}',
    test: VENDORS_SPEC,
    title: 'are answered with the checks that were acknowledged',
  },
];
