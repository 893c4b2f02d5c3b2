import {
  FEEDBACK_KINDS,
  SCOPES,
  type AccountView,
  type FeedbackView,
  type KeyView,
  type MintedKey,
  type OpenedAccount,
  type OwnAccountView,
} from '@berth/contracts/accounts';
import {
  bool,
  integerOrNull,
  list,
  object,
  page,
  text,
  textOrNull,
  time,
  timeOrNull,
  view,
  type JsonSchema,
  type MembersOf,
} from './json-schema.js';

const keyMembers: MembersOf<KeyView> = {
  id: text,
  name: text,
  scopes: list({ enum: [...SCOPES] }),
  accountId: text,
  createdAt: time,
  lastUsedAt: timeOrNull,
  expiresAt: timeOrNull,
  revokedAt: timeOrNull,
};

const accountMembers: MembersOf<AccountView> = {
  id: { ...text, examples: ['acc_01jd2m3k4n5p6q7r8s9t0v1w2x'] },
  name: text,
  planId: text,
  suspended: bool,
  suspendedAt: timeOrNull,
  createdAt: time,
};

/** The schemas of responses about accounts and keys. */
export const ACCOUNT_SCHEMAS: { readonly [name: string]: JsonSchema } = {
  Account: view<AccountView>(accountMembers),
  AccountPage: page('Account'),
  Feedback: view<FeedbackView>({
    id: { ...text, examples: ['fbk_01jd2m3k4n5p6q7r8s9t0v1w2x'] },
    kind: { enum: [...FEEDBACK_KINDS] },
    subject: textOrNull,
    message: text,
    requestId: textOrNull,
    statusCode: integerOrNull,
    tool: textOrNull,
    accountId: text,
    keyId: text,
    createdAt: time,
  }),
  FeedbackPage: page('Feedback'),
  OpenedAccount: view<OpenedAccount>({
    ...accountMembers,
    key: { ...text, description: 'The first key. No other response contains it.' },
    keyId: text,
  }),
  OwnAccount: view<OwnAccountView>({
    id: text,
    name: text,
    plan: { ...text, description: 'The id of its plan.' },
    credits: object({ balanceCents: { ...integerOrNull, description: 'Null while none are counted.' } }),
    key: object({ id: text, name: text, scopes: list({ enum: [...SCOPES] }) }),
  }),
  Key: view<KeyView>(keyMembers),
  KeyPage: page('Key'),
  MintedKey: view<MintedKey>({
    key: { ...text, description: 'No other response contains it.' },
    ...keyMembers,
  }),
};
