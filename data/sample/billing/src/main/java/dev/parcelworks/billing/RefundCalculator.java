package dev.parcelworks.billing;

import java.util.function.Predicate;

/** Works out what we owe an account after lost or late parcels. */
public class RefundCalculator {

    private static final long LIABILITY_CAP_CENTS = 50_000;

    /** Money to pay back for the positions that went wrong, up to the liability cap. */
    public long total(Invoice invoice, Predicate<Invoice.Line> wentWrong) {
        long owed = invoice.lines().stream().filter(wentWrong).mapToLong(Invoice.Line::amount).sum();
        return Math.min(owed, LIABILITY_CAP_CENTS);
    }

    /** Partial compensation for parcels that came, but too late. */
    public long lateDelivery(long priceCents, int hoursLate) {
        if (hoursLate < 4) {
            return 0;
        }
        return hoursLate < 24 ? priceCents / 4 : priceCents / 2;
    }
}
