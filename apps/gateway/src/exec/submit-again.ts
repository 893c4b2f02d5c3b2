import { execRequests, type SubmitExecution, type SubmittedExecution } from '@berth/contracts/exec';
import { asRepeated, isDomainError } from '@berth/kernel';
import type { Requester } from '@berth/messaging';
import { gotNoResponse, isResponseLost } from './await-end.js';

/** Submissions marked as repeated join each other, however many arrive. */
const submitRepeated = { ...execRequests.submit, whenLost: 'repeat' } as const;

/**
 * Submits a command, and submits it again if the first request or its response is lost: the second joins the first by
 * the command's id, or precludes it. Throws the first error if the second gets no response either.
 */
export const submitAgainWhenLost = async (
  requester: Requester,
  submission: SubmitExecution,
  deadlineMs: number,
): Promise<SubmittedExecution> => {
  try {
    return await requester.request(execRequests.submit, submission, { deadlineMs });
  } catch (lost) {
    if (!isResponseLost(lost) || !isDomainError(lost, 'unavailable')) throw lost;
    try {
      return await requester.request(submitRepeated, { ...submission, repeated: true }, { deadlineMs });
    } catch (again) {
      throw gotNoResponse(again) ? lost : asRepeated(again);
    }
  }
};
