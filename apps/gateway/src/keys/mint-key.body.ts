import { SCOPES, type Scope } from '@berth/contracts/accounts';
import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { isPlainObject } from '../validation/dto-validation.js';
import { parseIsoTime } from '../validation/iso-time.js';
import { IsText, Obeys } from '../validation/rules.js';
import type { TextRule } from '../validation/text-rule.js';

const isScope = (value: unknown): value is Scope => SCOPES.some((scope) => scope === value);

const scopesProblem = (value: unknown): string | undefined => {
  const known = Array.isArray(value) && value.every(isScope) && new Set<unknown>(value).size === value.length;
  return known ? undefined : `must be a list of different scopes out of ${SCOPES.join(', ')}`;
};

const expiryProblem = (value: unknown): string | undefined => {
  const millis = parseIsoTime(value);
  if (millis === undefined) return 'must be an ISO 8601 time such as 2026-01-31T12:00:00.000Z';
  return millis > Date.now() ? undefined : 'must lie in the future';
};

const KEY_NAME: TextRule = {
  max: 128,
  pattern: /^\P{Cc}+$/u,
  means: 'must not hold control characters',
};

/** `POST /api/v1/keys` */
export class MintKeyBody {
  @ApiProperty({ description: 'The purpose of the key.' })
  @IsText(KEY_NAME)
  readonly name!: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'string', enum: [...SCOPES] },
    uniqueItems: true,
    description: 'Scopes that the minting key holds itself. Every key has `read`.',
  })
  @Obeys('areScopes', scopesProblem)
  readonly scopes!: readonly Scope[];

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    nullable: true,
    description: 'From when on the key is dead; never, when left out.',
  })
  @IsOptional()
  @Obeys('isFuture', expiryProblem)
  readonly expiresAt?: string | null;
}

/** A key mints only scopes that it holds. */
export const scopesOfMinting = (body: unknown): readonly Scope[] => {
  const asked: unknown = isPlainObject(body) ? body['scopes'] : undefined;
  return Array.isArray(asked) ? asked.filter(isScope) : [];
};
