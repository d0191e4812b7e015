# Makes N one-minute bars as text, with a pause of two days after every five: awk -v n=N -f scripts/bars.awk > bars.csv
BEGIN {
    print "time,open,high,low,close,volume"
    for (last = 110000; i < n; i++) {
        first = last; last += i * 7919 % 21 - 10
        top = first > last ? first : last; bottom = first + last - top
        printf "%.0f,%.5f,%.5f,%.5f,%.5f,%d\n", 946684800 + 60 * i + 172800 * int(i / 7200), first / 1e5, \
            top / 1e5 + 3e-5, bottom / 1e5 - 2e-5, last / 1e5, 1000 * (i % 17)
    }
}
