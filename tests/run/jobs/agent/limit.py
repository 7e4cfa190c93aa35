"""Lets this process have so much more memory than it has now: what asks for more is refused, as by a full device."""
import resource


def more(limit_bytes):
    with open("/proc/self/status", encoding="ascii") as status:
        used_bytes = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmData:"))
    resource.setrlimit(resource.RLIMIT_DATA, (used_bytes + limit_bytes, resource.RLIM_INFINITY))
