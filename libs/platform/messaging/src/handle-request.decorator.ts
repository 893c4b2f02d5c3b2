import type { RequestDefinition } from '@berth/kernel';
import { applyDecorators, Catch, UseFilters, type RpcExceptionFilter } from '@nestjs/common';
import { MessagePattern } from '@nestjs/microservices';
import { throwError, type Observable } from 'rxjs';

export interface HandleRequestOptions {
  /** Every instance of the service hears the request, instead of one of them. */
  readonly broadcast?: boolean;
}

// Nest's own filter would flatten refusals to "Internal server error" before the server can map them.
@Catch()
class PassErrorsOn implements RpcExceptionFilter {
  catch(error: unknown): Observable<never> {
    return throwError(() => error);
  }
}

const passErrorsOn = new PassErrorsOn();

/**
 * Makes a controller's method `(payload: Request) => Promise<Response>` answer `definition`. What it throws reaches
 * the caller as a DomainError.
 */
export const HandleRequest = <Request, Response>(
  definition: RequestDefinition<Request, Response>,
  options: HandleRequestOptions = {},
): MethodDecorator =>
  applyDecorators(
    MessagePattern(definition.subject, { broadcast: options.broadcast === true }),
    UseFilters(passErrorsOn),
  );
