import { accountsErrors } from '@berth/contracts/accounts';
import { agentsErrors } from '@berth/contracts/agents';
import { computersErrors } from '@berth/contracts/computers';
import { deliveryErrors } from '@berth/contracts/delivery';
import { llmErrors } from '@berth/contracts/llm';
import { endUsersErrors } from '@berth/contracts/end-users';
import { execErrors } from '@berth/contracts/exec';
import { filesErrors } from '@berth/contracts/files';
import { operationsErrors } from '@berth/contracts/operations';
import { schedulesErrors } from '@berth/contracts/schedules';
import type { ErrorDefinition } from '@berth/kernel';
import { STATUS_OF_KIND } from './error-status.js';
import { gatewayErrors, type HttpErrorDefinition } from './gateway.errors.js';

const contextErrors = {
  ...accountsErrors,
  ...agentsErrors,
  ...computersErrors,
  ...deliveryErrors,
  ...llmErrors,
  ...endUsersErrors,
  ...execErrors,
  ...filesErrors,
  ...operationsErrors,
  ...schedulesErrors,
} as const;

/** Every error code that a route may declare. */
export type ErrorCode = keyof typeof contextErrors | keyof typeof gatewayErrors;

const DEFINITIONS: Readonly<Record<string, ErrorDefinition | HttpErrorDefinition>> = {
  ...contextErrors,
  ...gatewayErrors,
};

export const ERROR_CODES: readonly ErrorCode[] = Object.keys(DEFINITIONS).sort() as ErrorCode[];

/** When a caller gets the code, its kind between services if it has one, and its HTTP status. */
export const describeErrorCode = (
  code: ErrorCode,
): { readonly kind: string | undefined; readonly status: number; readonly when: string } => {
  const definition = DEFINITIONS[code];
  if (definition === undefined) throw new Error(`The error code ${code} is not declared.`);
  const { when } = definition;
  return 'kind' in definition
    ? { kind: definition.kind, status: STATUS_OF_KIND[definition.kind], when }
    : { kind: undefined, status: definition.status, when };
};
