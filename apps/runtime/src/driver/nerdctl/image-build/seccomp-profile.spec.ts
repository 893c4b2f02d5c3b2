import { describe, expect, it } from 'vitest';
import { allowNested, profileOf } from './seccomp-profile.plan.js';

const seccomp = {
  defaultAction: 'SCMP_ACT_ERRNO',
  architectures: ['SCMP_ARCH_X86_64'],
  syscalls: [{ names: ['read'], action: 'SCMP_ACT_ALLOW' }],
};

describe('the seccomp profile of builds', () => {
  it('is the profile of a container plus two calls that nested containers need', () => {
    const profile = profileOf(JSON.stringify([{ ID: 'x', Spec: { linux: { seccomp } } }]));
    expect(profile).toEqual(seccomp);
    expect(allowNested(profile ?? seccomp)).toEqual({
      ...seccomp,
      syscalls: [...seccomp.syscalls, { names: ['keyctl', 'pivot_root'], action: 'SCMP_ACT_ALLOW' }],
    });
  });

  it('does not exist on a host whose containers have no profile', () => {
    expect(profileOf('[{"Spec":{"linux":{}}}]')).toBeUndefined();
    expect(profileOf('[]')).toBeUndefined();
  });
});
