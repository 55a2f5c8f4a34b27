/* guard: see the header. */
#include "bridge/http/guard.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct block {
	uint8_t prefix[16];
	unsigned bits;
};

static const struct block refused4[] = {
    {{0}, 8},             /* this network, unspecified */
    {{10}, 8},            /* private */
    {{100, 64}, 10},      /* shared by carrier NAT */
    {{127}, 8},           /* loopback */
    {{169, 254}, 16},     /* link-local, cloud metadata */
    {{172, 16}, 12},      /* private */
    {{192, 0, 0}, 24},    /* protocol assignments */
    {{192, 0, 2}, 24},    /* documentation */
    {{192, 88, 99}, 24},  /* 6to4 relays */
    {{192, 168}, 16},     /* private */
    {{198, 18}, 15},      /* benchmarks */
    {{198, 51, 100}, 24}, /* documentation */
    {{203, 0, 113}, 24},  /* documentation */
    {{224}, 4},           /* multicast */
    {{240}, 4},           /* reserved, broadcast */
};

static const struct block refused6[] = {
    {{0}, 128},                                 /* unspecified */
    {{[15] = 1}, 128},                          /* loopback */
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48}, /* NAT64 of a site */
    {{0x01}, 64},                               /* discard */
    {{0x20, 0x01, 0x0d, 0xb8}, 32},             /* documentation */
    {{0x3f, 0xff}, 20},                         /* documentation */
    {{0xfc}, 7},                                /* private */
    {{0xfe, 0x80}, 10},                         /* link-local */
    {{0xfe, 0xc0}, 10},                         /* site-local */
    {{0xff}, 8},                                /* multicast */
};

/* IPv6 forms that hold an IPv4 address, and where. */
static const struct wrapper {
	struct block block;
	unsigned at;  /* first byte of the IPv4 address */
	uint8_t flip; /* Teredo stores it inverted */
} wrappers[] = {
    {{{[10] = 0xff, [11] = 0xff}, 96}, 12, 0},  /* mapped */
    {{{0}, 96}, 12, 0},                         /* compatible */
    {{{0x00, 0x64, 0xff, 0x9b}, 96}, 12, 0},    /* NAT64 */
    {{{0x20, 0x02}, 16}, 2, 0},                 /* 6to4 */
    {{{0x20, 0x01, 0x00, 0x00}, 32}, 12, 0xff}, /* Teredo */
};

static bool
inside(const uint8_t *address, const struct block *block)
{
	unsigned whole = block->bits / 8, rest = block->bits % 8;

	if (memcmp(address, block->prefix, whole) != 0)
		return false;
	if (rest == 0)
		return true;
	return ((address[whole] ^ block->prefix[whole]) >> (8 - rest)) == 0;
}

static bool
listed(const uint8_t *address, const struct block *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (inside(address, &list[i]))
			return true;
	}
	return false;
}

static bool
allows4(const uint8_t address[4])
{
	return !listed(
	    address, refused4, sizeof(refused4) / sizeof(refused4[0]));
}

static bool
allows6(const uint8_t address[16])
{
	uint8_t inner[4];

	if (listed(address, refused6, sizeof(refused6) / sizeof(refused6[0])))
		return false;
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++) {
		const struct wrapper *w = &wrappers[i];

		if (!inside(address, &w->block))
			continue;
		for (unsigned j = 0; j < 4; j++)
			inner[j] = (uint8_t)(address[w->at + j] ^ w->flip);
		return allows4(inner);
	}
	return true;
}

bool
br_guard_allows(const struct sockaddr *address)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;
	uint8_t bytes[4];

	/* Copied, because a sockaddr promises no alignment for these. */
	if (address->sa_family == AF_INET) {
		memcpy(&in4, address, sizeof(in4));
		memcpy(bytes, &in4.sin_addr, sizeof(bytes));
		return allows4(bytes);
	}
	if (address->sa_family == AF_INET6) {
		memcpy(&in6, address, sizeof(in6));
		return allows6(in6.sin6_addr.s6_addr);
	}
	return false;
}
