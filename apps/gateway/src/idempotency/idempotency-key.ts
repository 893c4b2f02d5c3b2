import { text } from '@berth/contracts/schema';

/** The header `Idempotency-Key`. */
export const IDEMPOTENCY_KEY = text({
  max: 255,
  pattern: /^[\x20-\x7e]+$/,
  means: 'must be 1 to 255 printable ASCII characters',
});
